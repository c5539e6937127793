import assert from "node:assert/strict";
import { kubeflowOperator } from "@konverge/kubeflow-operator";
import { onEmbedded, type Scenario } from "@konverge/operator-suite";
import { parseYaml } from "konverge/schema";
import { AS_WRITTEN, KINDS, MPI, sample, sampleFiles, stateOf, TRAIN, untilState } from "./jobs.ts";

/** A sample runs, and then nothing more is written. */
const runs =
  (file: string): Scenario =>
  async (stage) => {
    // Runtimes come before their jobs.
    const { kind, metadata } = (parseYaml(sample(file)) as { kind: string; metadata: { name: string } }[]).at(-1)!;
    const which = [...KINDS, MPI, TRAIN].find((one) => one.kind.kind === kind)!;
    await stage.start(kubeflowOperator);
    await stage.apply(sample(file));
    // Of a TrainJob that runs there is no condition.
    if (which !== TRAIN) await untilState(stage, which, metadata.name, "Running");
    // A simulated node ends the pods of a Job, as a launcher is one, after some time.
    const state = which === MPI ? "Succeeded" : which === TRAIN ? "Complete" : "Running";
    await untilState(stage, which, metadata.name, state);
    await stage.settled();
    const writes = stage.writes();
    await stage.advance(600_000);
    assert.equal(stage.writes(), writes, "it writes though nothing happens");
    assert.equal(await stateOf(stage, which, metadata.name), state);
  };

for (const file of sampleFiles) onEmbedded(`the sample ${file} runs`, runs(file), AS_WRITTEN);
