import assert from "node:assert/strict";
import { onEmbedded, type TestEnvironment } from "@konverge/operator-suite";
import { TrainingJob, trainingOperator } from "@konverge/training-operator";
import { PersistentVolumeClaim } from "konverge/kinds";
import { sleep } from "konverge/time";
import { envOf, job, podsOf, statusOf, untilPhase } from "./jobs.ts";

const IMAGE = "trainer:1";

/** Registers a program that trains: a step takes as long as `pace` says, and every tenth is reported. */
function trains(
  stage: TestEnvironment,
  total: number,
  pace: (rank: number) => number,
  failAt = Number.POSITIVE_INFINITY,
): void {
  stage.cluster!.image(IMAGE, {
    async run({ env, write, killed }) {
      const rank = Number(env["RANK"]);
      const resumed = Number(/(\d+)$/.exec(env["RESUME_CHECKPOINT"] ?? "")?.[1] ?? 0);
      for (let step = resumed; step < total; ) {
        await sleep(stage.clock, pace(rank) * 10, { signal: killed });
        step += 10;
        write(`some other output\n@progress not json\n`);
        const checkpoint = rank === 0 && step % 50 === 0 ? { checkpoint: `${env["CHECKPOINT_DIR"]}/${step}` } : {};
        write(
          `@progress ${JSON.stringify({ step, totalSteps: total, epoch: 1, metrics: { loss: 1 / step }, ...checkpoint })}\n`,
        );
        if (step >= failAt && resumed === 0 && rank === 1) return 1;
      }
      return 0;
    },
  });
}

onEmbedded("what workers print becomes progress, and an estimate of the end", async (stage) => {
  const operator = await stage.start(trainingOperator);
  trains(stage, 600, () => 1000);
  await stage.apply(job("steady", { image: IMAGE }));
  await untilPhase(stage, "steady", "Running");
  const { startTime } = await statusOf(stage, "steady");
  await stage.until("half of it is done", async () => ((await statusOf(stage, "steady")).progress?.percent ?? 0) >= 50);
  const { progress, workerStatuses, stragglers } = await statusOf(stage, "steady");
  assert.equal(progress!.totalSteps, 600);
  assert.ok(Math.abs(progress!.stepsPerSecond! - 1) < 0.2, `${progress!.stepsPerSecond} steps a second`);
  const end = (Date.parse(progress!.estimatedCompletionTime!) - Date.parse(startTime!)) / 1000;
  assert.ok(end > 480 && end < 720, `it ends after ${end} s`);
  assert.equal(stragglers, undefined);
  assert.equal(progress!.metrics!["loss"], 1 / progress!.step);
  assert.ok(workerStatuses!.every(({ step }) => step! >= progress!.step));
  assert.match(await operator.metrics(), /training_job_progress_ratio\{[^}]*name="steady"[^}]*\} 0\.[5-9]/);
  await untilPhase(stage, "steady", "Succeeded");
  assert.equal((await statusOf(stage, "steady")).progress?.percent, 100);
});

onEmbedded("a worker that is far behind the others is named", async (stage) => {
  await stage.start(trainingOperator);
  trains(stage, 10_000, (rank) => (rank === 2 ? 300 : 100));
  await stage.apply(job("uneven", { image: IMAGE, workers: 4 }));
  await stage.until("it is named", async () => (await statusOf(stage, "uneven")).stragglers?.join() === "2");
  assert.equal(await stage.condition(TrainingJob, "uneven", "Straggling"), "True WorkersBehind");
  const events = await stage.events(TrainingJob, "uneven");
  assert.ok(events.includes("Warning Straggling Far behind the others: worker 2"), events.join("\n"));
});

onEmbedded("a restarted gang goes on from the last checkpoint, on the volume that was made for it", async (stage) => {
  await stage.start(trainingOperator);
  trains(stage, 300, () => 1000, 170);
  await stage.apply(
    job("resumes", {
      image: IMAGE,
      checkpointDir: "/checkpoints",
      checkpointVolume: { size: "5Gi", onDelete: "Delete" },
    }),
  );
  await untilPhase(stage, "resumes", "Succeeded");
  const { restarts, lastCheckpoint, progress } = await statusOf(stage, "resumes");
  assert.deepEqual([restarts, lastCheckpoint?.path, progress?.step], [1, "/checkpoints/300", 300]);
  const { RESUME, RESUME_CHECKPOINT, CHECKPOINT_DIR } = envOf((await podsOf(stage, "resumes"))[1]!);
  assert.deepEqual([RESUME, RESUME_CHECKPOINT, CHECKPOINT_DIR], ["true", "/checkpoints/150", "/checkpoints"]);
  const claim = await stage.get(PersistentVolumeClaim, "resumes-checkpoints");
  assert.deepEqual(claim.spec?.accessModes, ["ReadWriteMany"]);
  await stage.client.delete(TrainingJob, `${stage.namespace}/resumes`);
  await stage.until("the claim went with the job, as it said", async () => {
    return !(await stage.find(PersistentVolumeClaim, "resumes-checkpoints"));
  });
});

onEmbedded("checkpoints outlive the job unless it says otherwise, and the next of its name has them", async (stage) => {
  await stage.start(trainingOperator);
  const kept = job("kept", { checkpointDir: "/c", checkpointVolume: { size: "1Gi" } });
  await stage.apply(kept);
  await untilPhase(stage, "kept", "Running");
  const { metadata } = await stage.get(PersistentVolumeClaim, "kept-checkpoints");
  await stage.client.delete(TrainingJob, `${stage.namespace}/kept`);
  await stage.until("the job is gone", async () => !(await stage.find(TrainingJob, "kept")));
  await stage.settled();
  await stage.apply(kept);
  await untilPhase(stage, "kept", "Running");
  assert.equal((await stage.get(PersistentVolumeClaim, "kept-checkpoints")).metadata.uid, metadata.uid);
});

onEmbedded("a job that trains without news is not written", async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("quiet"));
  await untilPhase(stage, "quiet", "Running");
  await stage.settled();
  const writes = stage.writes();
  await stage.advance(10 * 60_000);
  assert.equal(stage.writes(), writes);
});
