// npm start: brings what is missing, builds the lesson, serves it and prints its address.
//   npm start -- --port N
import { build } from "./build.mjs";
import { main } from "./run.mjs";
import { serveForever } from "./serve.mjs";
import { setup } from "./setup.mjs";

await main(import.meta.url, async (args) => {
  await setup();
  await build();
  console.log(`\nThe lesson is at ${await serveForever(["dist", ...args])} (end with Ctrl+C)`);
});
