import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdmissionRequest } from "konverge/webhooks";
import { KUEUE_QUEUE } from "./kueue.ts";
import { TrainingJob } from "./training-job.ts";
import { trainingJobAdmission } from "./training-job-admission.ts";

const base = { framework: "pytorch" as const, workers: 2, image: "i", command: ["train"] };

function request(more: Partial<AdmissionRequest<TrainingJob>> = {}) {
  const warnings: string[] = [];
  const asked = {
    operation: "CREATE",
    old: undefined,
    user: { username: "u" },
    dryRun: false,
    subresource: undefined,
    warn: (message: string) => void warnings.push(message),
    ...more,
  } as never;
  return { asked, warnings };
}

const validate = async (job: TrainingJob, asked: never) =>
  (await trainingJobAdmission.options.validate!(job as never, asked))?.map(({ field }) => field);

test("a job of a queue has a fixed size", async () => {
  const queued = (spec: object) =>
    TrainingJob.new({
      metadata: { name: "a", labels: { [KUEUE_QUEUE]: "team" } },
      spec: { ...base, ...spec },
    }) as TrainingJob;
  assert.deepEqual(await validate(queued({}), request().asked), []);
  const elastic = { minWorkers: 1, maxWorkers: 2 };
  assert.deepEqual(await validate(queued({ elastic }), request().asked), ["spec.elastic"]);
});

test("users are warned that checkpoints without a volume are lost", async () => {
  const { asked, warnings } = request();
  assert.deepEqual(
    await validate(
      TrainingJob.new({ metadata: { name: "a" }, spec: { ...base, checkpointDir: "/c" } }) as TrainingJob,
      asked,
    ),
    [],
  );
  assert.match(warnings.join(), /checkpoints are lost/);
});

test("users are warned that a finished job does not change any more", async () => {
  const old = {
    ...TrainingJob.new({ metadata: { name: "a" }, spec: base }),
    status: { phase: "Succeeded" },
  } as TrainingJob;
  const { asked, warnings } = request({ operation: "UPDATE", old });
  assert.deepEqual(
    await validate(TrainingJob.new({ metadata: { name: "a" }, spec: { ...base, image: "j" } }) as TrainingJob, asked),
    [],
  );
  assert.match(warnings.join(), /the job is finished/);
});

test("only a changed spec is judged, and none of a job that goes", async () => {
  const bad = TrainingJob.new({
    metadata: { name: "a" },
    spec: { ...base, env: [{ name: "RANK", value: "1" }] },
  }) as TrainingJob;
  assert.deepEqual(await validate(bad, request().asked), ["spec.env[RANK]"]);
  assert.deepEqual(await validate(bad, request({ operation: "UPDATE", old: bad }).asked), []);
  const going = { ...bad, metadata: { ...bad.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  assert.deepEqual(await validate(going, request().asked), []);
});
