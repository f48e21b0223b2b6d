// Paired measurement: the base and each peer in turn, in one process; what counts is the ratio of neighbours, since
// the speed of a shared machine drifts.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Milliseconds of one of `count` runs. */
async function sample(run, count) {
  const start = performance.now();
  for (let i = 0; i < count; i++) {
    const pending = run();
    if (pending?.then) await pending;
  }
  return (performance.now() - start) / count;
}

/**
 * contenders: [{ name, run }], the first of which is the base. Gives { name, ms, ratio } of each: the median time, and
 * the median of its time over that of the base just before and after.
 */
export async function measure(contenders, { rounds, sampleMs, warmMs, budgetMs }) {
  const states = [];
  for (const { name, run } of contenders) {
    // Engines tier up between calls.
    let ms = await sample(run, 1);
    for (let spent = ms, calls = 1; spent < warmMs && calls < 5000; ) {
      const count = Math.max(1, Math.min(100, Math.floor(5 / Math.max(ms, 1e-4))));
      ms = await sample(run, count);
      spent += ms * count;
      calls += count;
    }
    const count = Math.max(1, Math.ceil(sampleMs / ms));
    const most = Math.max(ms > 1000 ? 1 : 3, Math.min(rounds, Math.floor(budgetMs / (ms * count))));
    states.push({ name, run, count, most, times: [], ratios: [] });
  }
  const [base, ...peers] = states;
  let before = await sample(base.run, base.count);
  base.times.push(before);
  for (let round = 0; round < Math.max(3, ...states.map(({ most }) => most)); round++) {
    if (peers.length === 0) base.times.push(await sample(base.run, base.count));
    for (const peer of peers) {
      if (round >= peer.most) continue;
      const ms = await sample(peer.run, peer.count);
      const after = await sample(base.run, base.count);
      peer.times.push(ms);
      peer.ratios.push(ms / ((before + after) / 2));
      base.times.push(after);
      before = after;
    }
  }
  return states.map(({ name, times, ratios }) => ({
    name,
    ms: median(times),
    ratio: ratios.length ? median(ratios) : 1,
  }));
}
