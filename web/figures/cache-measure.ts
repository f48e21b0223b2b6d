// Cosines and sines made once and handed to every layer, against made anew in every layer: timed where the page runs.

import type { CosSin, Posenc } from "../posenc.ts";

export interface Workload {
  positions: number;
  numHeads: number;
  headDim: number;
  numLayers: number;
  ropeTheta: number;
}

/** Milliseconds for one pass through all layers, medians. */
export interface Timing {
  once: number;
  everyLayer: number;
}

/** The page may stand still for so long, in milliseconds; one step is far shorter. */
const SLICE = 12;
/** Clocks are coarse: passes are repeated until a sample is so long, and a side has so many samples. */
const SAMPLE = 20;
const SAMPLES = 3;
/** So many passes take longer than the coarsest clock's step. */
const MANY_PASSES = 200;

/** Ends with the signal's reason if that is aborted. */
export async function measure(core: Posenc, work: Workload, signal: AbortSignal): Promise<Timing> {
  const { positions, numHeads, headDim, numLayers, ropeTheta } = work;
  const { invFreq } = core.ropeInvFreq({ headDim, ropeTheta });
  const keys = new Float32Array(numHeads * positions * headDim).fill(1);
  const make = () => core.ropeCache(positions, invFreq);
  const turn = ({ cos, sin }: CosSin<Float32Array>) =>
    core.ropeApply(keys, cos, sin, { numHeads, seqLen: positions, headDim });

  function* once(): Generator<void> {
    const table = make();
    yield;
    for (let layer = 0; layer < numLayers; layer++) {
      turn(table);
      yield;
    }
  }
  function* everyLayer(): Generator<void> {
    for (let layer = 0; layer < numLayers; layer++) {
      const table = make();
      yield;
      turn(table);
      yield;
    }
  }

  turn(make()); // memory grows, code is compiled
  const samples = { once: [] as number[], everyLayer: [] as number[] };
  for (let i = 0; i < SAMPLES; i++) {
    samples.once.push(await sample(once, signal));
    samples.everyLayer.push(await sample(everyLayer, signal));
  }
  return { once: median(samples.once), everyLayer: median(samples.everyLayer) };
}

/** Milliseconds for one pass, over as many passes as make a sample. */
async function sample(pass: () => Generator<void>, signal: AbortSignal): Promise<number> {
  let elapsed = 0;
  let passes = 0;
  while (elapsed < SAMPLE) {
    if (passes === MANY_PASSES && elapsed === 0)
      throw new Error("Nothing was measured: the clock of this browser stands still.");
    const steps = pass();
    let done = false;
    while (!done) {
      await pause(signal);
      const start = performance.now();
      let spent = 0;
      do {
        done = steps.next().done === true;
        spent = performance.now() - start;
      } while (!done && spent >= 0 && spent < SLICE);
      elapsed += Math.max(0, spent);
    }
    passes++;
  }
  return elapsed / passes;
}

/** Lets the page draw and hear its reader. */
function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

const median = (values: number[]): number =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
