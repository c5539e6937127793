// node tools/peers/confirm.ts NAME --results FOLDER [--finding N]
// node tools/peers/confirm.ts --command COMMAND --scenario FILE --results FOLDER [--finding N]
// Repeats findings of `npm run explore:peers`, or of `konverge explore --command` with any operator, on a real control plane: the
// scenario twice without faults, then with the faults of each finding. Prints what differs at the end, and the requests.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  type EndState,
  type Exploration,
  endStateDifferences,
  endStateMask,
  findingText,
  readScenario,
  timelineText,
} from "@konverge/testing";
import { type RealRun, runOnReal } from "./real-run.ts";
import { thirdPartyScenario } from "./third-party.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    command: { type: "string" },
    scenario: { type: "string" },
    results: { type: "string" },
    finding: { type: "string" },
  },
});
const [name] = positionals;
const { results } = values;
const isOwn = values.command !== undefined && values.scenario !== undefined;
if ((name === undefined) !== isOwn || results === undefined) {
  console.error(
    "usage: node tools/peers/confirm.ts (NAME | --command COMMAND --scenario FILE) --results FOLDER [--finding N]",
  );
  process.exit(2);
}

// The operator and the control plane end with this process, so it must exit on a signal.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
const { command, scenario } =
  name === undefined
    ? { command: values.command!, scenario: readScenario(values.scenario!) }
    : thirdPartyScenario(name);
const file = join(results, name ?? "", "exploration.json");
const { findings } = JSON.parse(readFileSync(file, "utf8")) as Exploration;
const [clean, again] = [await endWithoutFaults(), await endWithoutFaults()];
const mask = endStateMask(clean, again);
for (const [i, finding] of findings.entries()) {
  if (values.finding !== undefined && Number(values.finding) !== i + 1) continue;
  console.log(`finding ${i + 1}: ${findingText(finding).split("\n", 2).join(",")}`);
  const run = await runOnReal(command, scenario, finding.faults);
  console.log(`  on a real control plane: ${outcome(run)}\n${timelineText(run.timeline)}\n`);
}

async function endWithoutFaults(): Promise<EndState> {
  const { endState, failure, timeline } = await runOnReal(command, scenario, []);
  if (!endState) throw new Error(`without faults: ${failure}\n${timelineText(timeline)}`);
  return endState;
}

function outcome({ endState, failure, faults }: RealRun): string {
  if (faults.length === 0) return "the point of the fault was not reached";
  if (!endState) return `failed: ${failure}`;
  const differences = endStateDifferences(clean, endState, mask);
  return differences.length === 0 ? "as without faults" : differences.join("; ");
}
