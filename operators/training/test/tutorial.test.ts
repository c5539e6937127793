import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onEmbedded } from "@konverge/operator-suite";
import { parseProgress, TrainingJob, trainingOperator } from "@konverge/training-operator";
import { Service } from "konverge/kinds";
import { namesOf, podsOf, statusOf, untilPhase } from "./jobs.ts";

const file = (name: string) => readFileSync(join(import.meta.dirname, "..", "tutorial", name), "utf8");

onEmbedded(
  "the tutorial's job converges, is repaired, and tells how a worker failed",
  async (stage) => {
    await stage.install(trainingOperator);
    await stage.apply(file("training-data-pvc.yaml"));
    await stage.apply(file("mnist-training.yaml"));
    assert.equal((await statusOf(stage, "mnist-training")).phase, undefined);
    await stage.start(trainingOperator);
    await untilPhase(stage, "mnist-training", "Running");
    assert.deepEqual(
      namesOf(await podsOf(stage, "mnist-training")),
      [0, 1, 2, 3].map((index) => `mnist-training-worker-${index}`),
    );
    await stage.client.delete(Service, "ml-team/mnist-training-workers");
    await stage.until("the Service is back", async () => {
      return (await stage.find(Service, "mnist-training-workers")) !== undefined;
    });
    const patch = (spec: object) =>
      stage.client.patch(TrainingJob, "ml-team/mnist-training", { merge: { spec } } as never);
    await patch({ podMetadata: { annotations: { "sim.konverge.dev/crash-after": "20s" } } });
    await stage.until(
      "a failure is reported",
      async () => (await statusOf(stage, "mnist-training")).failure?.exitCode === 1,
    );
    await patch({ podMetadata: null });
    await untilPhase(stage, "mnist-training", "Running");
  },
  { namespace: "ml-team" },
);

onEmbedded("what the tutorial's script prints is what the operator reads", async () => {
  const [, mark] = /print\("(@\w+ )" \+ json\.dumps\(progress\)/.exec(file("train.py")) ?? [];
  assert.deepEqual(parseProgress(`${mark}{"step": 1, "totalSteps": 2}`), { step: 1, totalSteps: 2 });
});
