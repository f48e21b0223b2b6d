// The twin in JavaScript beside the WebAssembly that it was made from.

import assert from "node:assert/strict";
import { loadPosenc } from "posenc";

const answer = (run) => {
  try {
    return { value: run() };
  } catch (error) {
    return { error: `${error.name}: ${error.message}` };
  }
};

/** The core, each of whose calls is made of its twin too and must be answered alike: to the bit, or in the same words. */
export async function alike(core, called = new Set()) {
  const twin = await loadPosenc({ wasm: false });
  return new Proxy(core, {
    get(_, name) {
      if (typeof core[name] !== "function") return core[name];
      return (...args) => {
        called.add(name);
        const { value, error } = answer(() => twin[name](...args));
        const expected = answer(() => core[name](...args));
        if (typeof expected.value?.free === "function") value.free();
        else
          assert.deepEqual(
            { value, error },
            { value: undefined, error: undefined, ...expected },
            String(name),
          );
        if (expected.error) return core[name](...args);
        return expected.value;
      };
    },
  });
}
