import assert from "node:assert/strict";
import { gpuNodes } from "@konverge/dev";
import { installForeignKind, onEmbedded } from "@konverge/operator-suite";
import { TrainingJob, trainingOperator } from "@konverge/training-operator";
import * as scenarios from "./gang-scheduling-scenarios.ts";
import { job, podsOf, statusOf, untilPhase } from "./jobs.ts";

onEmbedded("a PodGroup of the scheduler plugins is kept for the gang", scenarios.aPodGroupIsKept);
onEmbedded("workers of a PodGroup name the scheduler that has the plugin", scenarios.thePluginsPlaceThem);
onEmbedded("workers name their PodGroup for Volcano", scenarios.volcanoReadsTheGroup);

onEmbedded(
  "all workers of a gang find a place, or none does: two jobs that cannot both run do not block each other",
  async (stage) => {
    await installForeignKind(stage, scenarios.plugins.kind);
    await stage.start(trainingOperator, scenarios.inDefaultScheduler);
    // Four GPUs for two jobs of three workers each: one by one, each job would get two and wait for the third forever.
    await stage.apply(job("one", { workers: 3, gpuPerWorker: 1 }));
    await stage.apply(job("two", { workers: 3, gpuPerWorker: 1 }));
    await stage.until("one of them runs", async () => {
      const phases = await Promise.all(["one", "two"].map(async (name) => (await statusOf(stage, name)).phase));
      return phases.includes("Running");
    });
    await stage.settled();
    const [runs, waits] = (await statusOf(stage, "one")).phase === "Running" ? ["one", "two"] : ["two", "one"];
    assert.ok((await podsOf(stage, waits!)).every(({ spec }) => !spec!.nodeName));
    assert.equal(await stage.condition(TrainingJob, waits!, "Degraded"), "True Unschedulable");
    await stage.client.delete(TrainingJob, `${stage.namespace}/${runs}`);
    await untilPhase(stage, waits!, "Running");
    assert.equal(await stage.condition(TrainingJob, waits!, "Degraded"), "False AsExpected");
  },
  { nodes: gpuNodes("H100", 4) },
);
