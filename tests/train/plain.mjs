// The training step in plain JavaScript: the twin that the tuned one is measured against, kept as simple as it can be.
// One layer without a feed-forward part, causal, on the echo task, with no encoding, a learned table or RoPE.
//
// Based on: cpp/train/, whose formulas, shapes and streams of random numbers these are.

const BETA1 = 0.9;
const BETA2 = 0.99;
const ADAM_EPSILON = 1e-8;
const NORM_EPSILON = 1e-5;
const SYMBOLS = 8;

const MASK = (1n << 64n) - 1n;
/** SplitMix64: bits that depend on every bit of z. */
function mix(z) {
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return z ^ (z >> 31n);
}
const TRAINING = 1n;

/** Tokens and targets (batch, seqLen) of a step, counted from 0; −1 asks for nothing. */
export function echoBatch({ seed, batch, seqLen, echoOffset }, step) {
  let state = mix((mix((BigInt(seed) << 32n) | TRAINING) + BigInt(step)) & MASK);
  const tokens = new Int32Array(batch * seqLen);
  for (let i = 0; i < tokens.length; i++) {
    state = (state + 0x9e3779b97f4a7c15n) & MASK;
    tokens[i] = Number(((mix(state) >> 32n) * BigInt(SYMBOLS)) >> 32n);
  }
  const targets = tokens.map((_, i) => (i % seqLen < echoOffset ? -1 : tokens[i - echoOffset]));
  return { tokens, targets };
}

/** out (rows, cols) = or += x (rows, depth) w (depth, cols). */
function multiply(out, x, w, rows, depth, cols, onto = false) {
  if (!onto) out.fill(0, 0, rows * cols);
  for (let r = 0; r < rows; r++)
    for (let k = 0; k < depth; k++) {
      const scale = x[r * depth + k];
      for (let c = 0; c < cols; c++) out[r * cols + c] += scale * w[k * cols + c];
    }
}

/** dw (depth, cols) += xᵀ dout and dx (rows, depth) = dout wᵀ. */
function multiplyBack(dx, dw, dout, x, w, rows, depth, cols) {
  for (let r = 0; r < rows; r++)
    for (let k = 0; k < depth; k++) {
      const scale = x[r * depth + k];
      let sum = 0;
      for (let c = 0; c < cols; c++) {
        const d = dout[r * cols + c];
        dw[k * cols + c] += scale * d;
        sum += d * w[k * cols + c];
      }
      dx[r * depth + k] = sum;
    }
}

function norm(out, inverse, x, gain, rows) {
  const d = gain.length;
  for (let r = 0; r < rows; r++) {
    let squares = 0;
    for (let c = 0; c < d; c++) squares += x[r * d + c] ** 2;
    inverse[r] = 1 / Math.sqrt(squares / d + NORM_EPSILON);
    for (let c = 0; c < d; c++) out[r * d + c] = x[r * d + c] * inverse[r] * gain[c];
  }
}

function normBack(dx, dgain, dout, x, inverse, gain, rows) {
  const d = gain.length;
  for (let r = 0; r < rows; r++) {
    let mean = 0;
    for (let c = 0; c < d; c++) {
      const along = dout[r * d + c] * x[r * d + c] * inverse[r];
      dgain[c] += along;
      mean += (along * gain[c]) / d;
    }
    for (let c = 0; c < d; c++) {
      const unit = x[r * d + c] * inverse[r];
      dx[r * d + c] += (dout[r * d + c] * gain[c] - unit * mean) * inverse[r];
    }
  }
}

/** A run that begins with the weights of `run`, which has taken no step. */
export function plainRun(run) {
  const { config } = run;
  const { dModel: d, numHeads, seqLen: n, batch, encoding } = config;
  const [rows, size] = [batch * n, d / numHeads];
  const weights = ["tokenTable", "gain", "wQkv", "bQkv", "wOut", "lastGain", "wClasses", "positionTable"]
    .map((name) => [name, run.weight(name)])
    .filter(([, values]) => values.length > 0)
    .map(([name, w]) => {
      const zeros = () => new Float32Array(w.length);
      return [name, { w, g: zeros(), m: zeros(), v: zeros(), decays: /^w[A-Z]/.test(name) }];
    });
  const all = Object.fromEntries(weights);
  const array = (length) => new Float32Array(length);
  const [x, normed, mixed, last, lastNormed] = Array.from({ length: 5 }, () => array(rows * d));
  const [dx, dnormed] = [array(rows * d), array(rows * d)];
  const [qkv, dqkv] = [array(rows * 3 * d), array(rows * 3 * d)];
  const [inverse, lastInverse] = [array(rows), array(rows)];
  const logits = array(rows * SYMBOLS);
  const seen = array(batch * numHeads * n * n);
  const pairs = size / 2;
  const [cos, sin] = [array(n * pairs), array(n * pairs)];
  for (let t = 0; t < n; t++)
    for (let i = 0; i < pairs; i++) {
      const angle = t * config.base ** ((-2 * i) / size);
      cos[t * pairs + i] = Math.cos(angle);
      sin[t * pairs + i] = Math.sin(angle);
    }
  let step = 0;

  /** Turns q and k by their positions, or back. */
  function rotate(values, side) {
    for (let r = 0; r < rows; r++)
      for (let first = 0; first < 2 * d; first += size)
        for (let i = 0; i < pairs; i++) {
          const at = r * 3 * d + first + 2 * i;
          const [c, s] = [cos[(r % n) * pairs + i], side * sin[(r % n) * pairs + i]];
          const [a, b] = [values[at], values[at + 1]];
          values[at] = a * c - b * s;
          values[at + 1] = a * s + b * c;
        }
  }

  /** Calls use(first row of the sequence, first column of the head, its weights). */
  function eachHead(use) {
    for (let s = 0; s < batch; s++)
      for (let h = 0; h < numHeads; h++) {
        const at = (s * numHeads + h) * n * n;
        use(s * n, h * size, seen.subarray(at, at + n * n));
      }
  }

  function attend(row, column, weight) {
    const at = (t, part) => (row + t) * 3 * d + part * d + column;
    for (let i = 0; i < n; i++) {
      let most = Number.NEGATIVE_INFINITY;
      for (let j = 0; j <= i; j++) {
        let dot = 0;
        for (let c = 0; c < size; c++) dot += qkv[at(i, 0) + c] * qkv[at(j, 1) + c];
        weight[i * n + j] = dot / Math.sqrt(size);
        most = Math.max(most, weight[i * n + j]);
      }
      let sum = 0;
      for (let j = 0; j <= i; j++) {
        weight[i * n + j] = Math.exp(weight[i * n + j] - most);
        sum += weight[i * n + j];
      }
      const to = (row + i) * d + column;
      mixed.fill(0, to, to + size);
      for (let j = 0; j <= i; j++) {
        weight[i * n + j] /= sum;
        for (let c = 0; c < size; c++) mixed[to + c] += weight[i * n + j] * qkv[at(j, 2) + c];
      }
    }
  }

  function attendBack(row, column, weight, dmixed) {
    const at = (t, part) => (row + t) * 3 * d + part * d + column;
    const dweight = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      const from = (row + i) * d + column;
      let mean = 0;
      for (let j = 0; j <= i; j++) {
        let dot = 0;
        for (let c = 0; c < size; c++) {
          dot += dmixed[from + c] * qkv[at(j, 2) + c];
          dqkv[at(j, 2) + c] += weight[i * n + j] * dmixed[from + c];
        }
        dweight[j] = dot;
        mean += weight[i * n + j] * dot;
      }
      for (let j = 0; j <= i; j++) {
        const dlogit = (weight[i * n + j] * (dweight[j] - mean)) / Math.sqrt(size);
        for (let c = 0; c < size; c++) {
          dqkv[at(i, 0) + c] += dlogit * qkv[at(j, 1) + c];
          dqkv[at(j, 1) + c] += dlogit * qkv[at(i, 0) + c];
        }
      }
    }
  }

  function forward(tokens) {
    for (let r = 0; r < rows; r++)
      for (let c = 0; c < d; c++)
        x[r * d + c] = all.tokenTable.w[tokens[r] * d + c] + (all.positionTable?.w[(r % n) * d + c] ?? 0);
    norm(normed, inverse, x, all.gain.w, rows);
    multiply(qkv, normed, all.wQkv.w, rows, d, 3 * d);
    for (let i = 0; i < qkv.length; i++) qkv[i] += all.bQkv.w[i % (3 * d)];
    if (encoding === "rope") rotate(qkv, 1);
    eachHead(attend);
    last.set(x);
    multiply(last, mixed, all.wOut.w, rows, d, d, true);
    norm(lastNormed, lastInverse, last, all.lastGain.w, rows);
    multiply(logits, lastNormed, all.wClasses.w, rows, d, SYMBOLS);
  }

  /** Mean loss in nats over what was asked; logits become their own gradients. */
  function score(targets) {
    const asked = targets.filter((target) => target >= 0).length;
    let loss = 0;
    for (let r = 0; r < rows; r++) {
      const row = logits.subarray(r * SYMBOLS, (r + 1) * SYMBOLS);
      if (targets[r] < 0) {
        row.fill(0);
        continue;
      }
      const most = Math.max(...row);
      const chosen = row[targets[r]];
      let sum = 0;
      for (let c = 0; c < SYMBOLS; c++) {
        row[c] = Math.exp(row[c] - most);
        sum += row[c];
      }
      loss += (Math.log(sum) + most - chosen) / asked;
      for (let c = 0; c < SYMBOLS; c++) row[c] = (row[c] / sum - (c === targets[r] ? 1 : 0)) / asked;
    }
    return loss;
  }

  function backward(tokens) {
    for (const { g } of Object.values(all)) g.fill(0);
    multiplyBack(dnormed, all.wClasses.g, logits, lastNormed, all.wClasses.w, rows, d, SYMBOLS);
    dx.fill(0);
    normBack(dx, all.lastGain.g, dnormed, last, lastInverse, all.lastGain.w, rows);
    multiplyBack(dnormed, all.wOut.g, dx, mixed, all.wOut.w, rows, d, d);
    dqkv.fill(0);
    eachHead((row, column, weight) => attendBack(row, column, weight, dnormed));
    if (encoding === "rope") rotate(dqkv, -1);
    for (let i = 0; i < dqkv.length; i++) all.bQkv.g[i % (3 * d)] += dqkv[i];
    multiplyBack(dnormed, all.wQkv.g, dqkv, normed, all.wQkv.w, rows, d, 3 * d);
    normBack(dx, all.gain.g, dnormed, x, inverse, all.gain.w, rows);
    for (let r = 0; r < rows; r++)
      for (let c = 0; c < d; c++) {
        all.tokenTable.g[tokens[r] * d + c] += dx[r * d + c];
        if (all.positionTable) all.positionTable.g[(r % n) * d + c] += dx[r * d + c];
      }
  }

  function update() {
    const warm = config.warmupSteps > 0 ? Math.min(1, step / config.warmupSteps) : 1;
    const rate = config.learningRate * warm * (1 - 0.95 * Math.max(0, (2 * step) / config.steps - 1));
    const squares = Object.values(all).flatMap(({ g }) => g.reduce((sum, value) => sum + value * value, 0));
    const length = Math.sqrt(squares.reduce((sum, value) => sum + value, 0));
    const scale = Math.min(1, config.gradientClip / length);
    const [first, second] = [1 - BETA1 ** step, 1 - BETA2 ** step];
    for (const { w, g, m, v, decays } of Object.values(all)) {
      const keep = 1 - rate * (decays ? config.weightDecay : 0);
      for (let i = 0; i < w.length; i++) {
        const gradient = g[i] * scale;
        m[i] = BETA1 * m[i] + (1 - BETA1) * gradient;
        v[i] = BETA2 * v[i] + (1 - BETA2) * gradient * gradient;
        w[i] = w[i] * keep - ((rate / first) * m[i]) / (Math.sqrt(v[i] / second) + ADAM_EPSILON);
      }
    }
  }

  return {
    /** Takes a step and returns its loss. */
    step() {
      const { tokens, targets } = echoBatch(config, step);
      forward(tokens);
      const loss = score(targets);
      backward(tokens);
      step += 1;
      update();
      return loss;
    },
    weight: (name) => all[name]?.w ?? new Float32Array(),
  };
}
