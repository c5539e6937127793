// `npm start`: an embedded cluster, the operators, a sample of each kind, converging before your eyes.
import { parseArgs } from "node:util";
import { operators } from "@konverge/operators";
import { stopOnSignals } from "./commands/stop-on-signals.ts";
import { demo } from "./demo/demo.ts";
import { chosenOperators } from "./operators/operator-modules.ts";

const { values: options } = parseArgs({
  options: {
    /** End when everything has converged: 0 if it has, 1 if not. */
    exit: { type: "boolean", default: false },
    /** Seconds to wait for that. */
    timeout: { type: "string", default: "300" },
    /** Only some operators: names with commas between them. */
    operators: { type: "string", default: "all" },
    /** Do not serve the console. */
    "no-console": { type: "boolean", default: false },
  },
});

const left = await demo({
  operators: chosenOperators(operators, options.operators),
  module: "@konverge/operators",
  exit: options.exit,
  timeout: Number(options.timeout) * 1000,
  stop: stopOnSignals(),
  screen: process.stdout,
  console: !options["no-console"] && !options.exit,
});
if (options.exit) {
  for (const name of left) console.error(`did not converge: ${name}`);
  console.log(left.length === 0 ? "Everything has converged." : `${left.length} did not converge.`);
}
process.exit(options.exit && left.length > 0 ? 1 : 0);
