import assert from "node:assert/strict";
import type { Scenario } from "@konverge/operator-suite";
import { TrainingJob, trainingOperator } from "@konverge/training-operator";
import { job, podsOf, untilPhase } from "./jobs.ts";

const Beta = TrainingJob.atVersion("v1beta1");

/** One object in both versions, whichever it was written in. */
export const bothVersionsAreServed: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  const beta = {
    apiVersion: "ml.example.com/v1beta1",
    kind: "TrainingJob",
    metadata: { name: "beta" },
    spec: {
      framework: "pytorch",
      worker: { replicas: 3, image: "trainer:2", command: ["train"] },
      hyperparameters: { values: { depth: 4 }, pass: ["env", "args"] },
      runPolicy: { backoffLimit: 5 },
    },
  };
  await stage.until("conversion is asked", () =>
    stage.apply(beta).then(
      () => true,
      () => false,
    ),
  );
  await untilPhase(stage, "beta", "Running");
  const stored = await stage.get(TrainingJob, "beta");
  assert.deepEqual([stored.spec.workers, stored.spec.backoffLimit], [3, 5]);
  assert.deepEqual(stored.spec.hyperparameters, { depth: 4 });
  assert.deepEqual((await podsOf(stage, "beta"))[0]!.spec!.containers[0]!.args, ["--depth=4"]);

  await stage.apply(job("alpha", { workers: 2, gpuPerWorker: 1, checkpointDir: "/c" }));
  await untilPhase(stage, "alpha", "Running");
  const converted = await stage.get(Beta, "alpha");
  assert.deepEqual([converted.spec.worker.replicas, converted.spec.worker.gpus], [2, 1]);
  assert.equal(converted.spec.checkpoint?.directory, "/c");
  assert.equal(converted.status?.phase, "Running");
  // The same rules hold in both.
  const wrong = { ...beta, spec: { ...beta.spec, elastic: { minWorkers: 5, maxWorkers: 6 } } };
  await assert.rejects(stage.apply(wrong), /within the bounds of elastic/);
  const reserved = { ...beta.spec.worker, env: [{ name: "RANK", value: "0" }] };
  await assert.rejects(
    stage.apply({ ...beta, spec: { ...beta.spec, worker: reserved } }),
    /RANK is set by the operator/,
  );
};
