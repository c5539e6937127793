import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onEmbedded } from "@konverge/operator-suite";
import { TrainingJob, trainingOperator } from "@konverge/training-operator";
import { statusOf } from "./jobs.ts";

const folder = join(import.meta.dirname, "..", "samples");

onEmbedded("every sample converges", async (stage) => {
  await stage.start(trainingOperator);
  const files = readdirSync(folder).sort();
  assert.ok(files.length >= 2);
  for (const file of files) await stage.apply(readFileSync(join(folder, file), "utf8"));
  const jobs = await stage.list(TrainingJob);
  assert.equal(jobs.length, files.length);
  for (const { metadata } of jobs) {
    const isReady = async () => (await stage.condition(TrainingJob, metadata.name, "Ready")) === "True WorkersRunning";
    await stage.until(`${metadata.name} is ready`, isReady);
    assert.equal((await statusOf(stage, metadata.name)).phase, "Running");
  }
});
