// math.js and ml-matrix: matrices of doubles, as one would write a product with them. For small sizes only.
import { readFileSync } from "node:fs";

const versionOf = (name) =>
  JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url), "utf8")).version;
const rowsOf = (x, rows, columns) =>
  Array.from({ length: rows }, (_, i) => Array.from(x.subarray(i * columns, (i + 1) * columns)));

let math;
export const mathjs = {
  name: "math.js",
  most: 3e6,
  async load() {
    math = await import("mathjs");
    return versionOf("mathjs");
  },
  tasks: {
    similarity({ T, D }, given) {
      const x = math.matrix(rowsOf(given.x, T, D));
      let last;
      const run = () => {
        last = math.multiply(x, math.transpose(x));
      };
      return { run, result: () => Float32Array.from(last.toArray().flat()) };
    },
  },
};

let Matrix;
export const mlMatrix = {
  name: "ml-matrix",
  most: 3e6,
  async load() {
    ({ Matrix } = await import("ml-matrix"));
    return versionOf("ml-matrix");
  },
  tasks: {
    similarity({ T, D }, given) {
      const x = new Matrix(rowsOf(given.x, T, D));
      let last;
      const run = () => {
        last = x.mmul(x.transpose());
      };
      return { run, result: () => Float32Array.from(last.to1DArray()) };
    },
  },
};
