// npm run explore:peers -- [NAME …] [--time 25m] [--points N] [--faults crash,error] [--workers N] [--results FOLDER]
// Builds operators of other projects from their registries and explores each of their scenarios as `konverge explore --command` does;
// tools/peers/confirm.ts repeats what was found on a real control plane.
// What passed is kept beside the built operator, so that an exploration that was stopped continues where it was.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { durationMs, realClock } from "@konverge/core";
import {
  explorationText,
  exploreProgram,
  type FaultFamily,
  findingText,
  passedFaultsIn,
  writeExploration,
} from "@konverge/testing";
import { THIRD_PARTIES, thirdPartyScenario } from "./third-party.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    time: { type: "string", default: "25m" },
    points: { type: "string" },
    faults: { type: "string" },
    only: { type: "string" },
    workers: { type: "string", default: "4" },
    results: { type: "string" },
  },
});

// Each operator has its own process group and ends with this process, so it must exit on a signal.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
const clock = realClock();
for (const { peer, version, scenarios } of THIRD_PARTIES) {
  for (const name of scenarios) {
    if (positionals.length > 0 && !positionals.some((part) => name.includes(part))) continue;
    const { command, scenario, folder } = thirdPartyScenario(name);
    const digest = createHash("sha256").update(JSON.stringify(scenario)).digest("hex").slice(0, 8);
    const begun = clock.monotonic();
    const exploration = await exploreProgram({
      command,
      scenario,
      passed: passedFaultsIn(join(folder, `${name}.txt`), digest),
      time: durationMs(values.time),
      findings: 100,
      workers: Number(values.workers),
      ...(values.points !== undefined && { points: Number(values.points) }),
      ...(values.faults !== undefined && { faults: values.faults.split(",") as FaultFamily[] }),
      ...(values.only !== undefined && { only: values.only }),
      onProgress: ({ done, total, findings, tried }) =>
        console.error(`${name}: ${done}/${total} runs, ${findings} findings: ${tried}`),
    });
    for (const finding of exploration.findings) console.log(`${findingText(finding)}\n`);
    const { missed, unconfirmed } = exploration;
    const minutes = ((clock.monotonic() - begun) / 60_000).toFixed(0);
    const counts = `${missed} faults did not happen, ${unconfirmed} runs failed only once`;
    console.log(`${peer.name} ${version}, ${name}: ${explorationText(exploration)}, ${counts}, ${minutes} min`);
    if (values.results !== undefined) writeExploration(exploration, name, join(values.results, name));
  }
}
