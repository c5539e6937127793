// `npm run record`: what `npm start` shows on a terminal, as a picture that plays itself (docs/npm-start.svg, in the README).
import { writeFileSync } from "node:fs";
import { operators } from "@konverge/operators";
import { demo } from "../../packages/cli/src/demo/demo.ts";
import { drawFrames } from "./draw-frames.ts";
import { TerminalFrames } from "./terminal-frames.ts";

const began = performance.now();
const screen = new TerminalFrames({ columns: 118, pause: 250, now: () => performance.now() - began });
screen.write("$ npm start -- --exit\n");
const left = await demo({
  operators,
  module: "@konverge/operators",
  exit: true,
  timeout: 120_000,
  stop: new AbortController().signal,
  screen,
});
if (left.length > 0) throw new Error(`nothing is recorded, these did not converge: ${left.join(", ")}`);
screen.write("Everything has converged.\n");
writeFileSync("docs/npm-start.svg", drawFrames(screen.frames()));
console.log(`${screen.frames().length} frames in docs/npm-start.svg`);
process.exit(0);
