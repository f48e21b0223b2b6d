// Training in a page: the bits of a run are those that Node gets.
import { loadTrainer } from "posenc/train";

const CONFIGS = ["none", "sinusoidal", "learned", "rope", "alibi", "t5"].map((encoding) => ({
  task: "language",
  encoding,
  seed: 3,
}));

/** Runs in Node and in the page: for each config a hash (FNV-1a) of weights, losses, a test and a text after some steps. */
function trained(trainer, configs) {
  return configs.map((config) => {
    const run = trainer.createRun(config);
    const { losses } = run.step(20);
    const { lossByPosition } = run.evaluate(96);
    const text = run.generate(Int32Array.of(2, 10, 12), 30);
    let hash = 0x811c9dc5;
    for (const { buffer } of [losses, lossByPosition, text, run.weight("tokenTable"), run.weight("wQkv")])
      for (const byte of new Uint8Array(buffer)) hash = Math.imul(hash ^ byte, 0x01000193);
    run.free();
    return hash >>> 0;
  });
}

export default [
  {
    name: "training gives the same bits as in Node, with SIMD and without",
    async run({ page, base, assert }) {
      const expected = trained(await loadTrainer(), CONFIGS);
      assert.equal(new Set(expected).size, CONFIGS.length);
      await page.goto(base);
      for (const simd of [true, false]) {
        const hashes = await page.evaluate(
          `return (async () => {
            const { loadTrainer } = await import(new URL("train.js", document.baseURI).href);
            return (${trained})(await loadTrainer({ simd: ${simd} }), ${JSON.stringify(CONFIGS)});
          })();`,
        );
        assert.deepEqual(hashes, expected, simd ? "SIMD" : "scalar");
      }
    },
  },
];
