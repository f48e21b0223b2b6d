// The palette: readable as text, and told apart by eyes that see two primaries.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const css = readFileSync(new URL("../../web/styles/tokens.css", import.meta.url), "utf8");
const themes = { light: {}, dark: {} };
for (const [, name, light, dark] of css.matchAll(/--pe-([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)) {
  themes.light[name] = light;
  themes.dark[name] = dark;
}
const symbols = ["q", "k", "pos", "dim"];
const methods = ["none", "sinusoidal", "learned", "rope", "alibi", "t5"];

const linear = (hex) =>
  [1, 3, 5].map((at) => {
    const c = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
const times = (matrix, v) => matrix.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]);
const luminance = (hex) => times([[0.2126, 0.7152, 0.0722]], linear(hex))[0];
const contrast = (a, b) => {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
};

// Ottosson 2020, A perceptual color space for image processing.
const oklab = (rgb) =>
  times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    times(
      [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
      ],
      rgb,
    ).map(Math.cbrt),
  );

// Machado, Oliveira, Fernandes 2009, severity 1.
const eyes = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};
const seen = (hex, eye) => oklab(times(eyes[eye], linear(hex)).map((c) => Math.max(0, c)));

test("every colour of text has a contrast of 4.5 on both grounds, in both themes", () => {
  for (const [theme, colours] of Object.entries(themes)) {
    for (const name of ["ink", "ink-2", "accent", "focus", ...symbols, ...methods]) {
      for (const ground of ["bg", "surface"]) {
        const ratio = contrast(colours[name], colours[ground]);
        assert.ok(ratio >= 4.5, `${theme} ${name} on ${ground}: ${ratio.toFixed(2)}`);
      }
    }
  }
});

test("symbols, and methods, differ among themselves for every kind of eye", () => {
  // OKLab distance; 0.02 is just noticeable side by side.
  for (const [group, least] of [
    [symbols, 0.085],
    [methods, 0.055],
  ]) {
    for (const [theme, colours] of Object.entries(themes)) {
      for (const eye of Object.keys(eyes)) {
        group.forEach((a, i) => {
          for (const b of group.slice(i + 1)) {
            const [x, y] = [seen(colours[a], eye), seen(colours[b], eye)];
            const distance = Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
            assert.ok(distance >= least, `${theme} ${eye}: ${a} and ${b} are ${distance.toFixed(3)} apart`);
          }
        });
      }
    }
  }
});
