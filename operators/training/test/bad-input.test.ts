import assert from "node:assert/strict";
import { onEmbedded } from "@konverge/operator-suite";
import { TrainingJob, trainingOperator } from "@konverge/training-operator";
import * as scenarios from "./bad-input-scenarios.ts";
import { job, podsOf, untilPhase } from "./jobs.ts";

onEmbedded("jobs that make no sense are refused, with what is wrong and where", scenarios.nonsenseIsRefused);
onEmbedded("a claim that does not exist is named, and found when it is there", scenarios.aClaimIsMissing);
onEmbedded("a ConfigMap that does not exist is waited for, and followed", scenarios.aConfigMapIsMissing);
onEmbedded("a type of GPU that no node has keeps a job from starting", scenarios.anUnknownGpuType);
onEmbedded("a size that no node has keeps a job from starting", scenarios.anImpossibleSize);
onEmbedded("a quota that is too small is named, and tried again", scenarios.aQuotaIsExceeded);
onEmbedded("a pod of somebody else's is left alone, whatever its name", scenarios.aNameIsTaken);

onEmbedded("without nodes a job waits, and runs when one comes", scenarios.thereAreNoNodes, { nodes: [] });
onEmbedded("an image that cannot be pulled is named, and the job starts when it can", scenarios.anImageIsMissing);

onEmbedded("an invalid job that bypassed admission is reported, and no pod is created", async (stage) => {
  // Stored before the operator, and its webhooks, were there.
  await stage.install(trainingOperator);
  await stage.apply(job("early", { env: [{ name: "WORLD_SIZE", value: "1" }] }));
  await stage.start(trainingOperator);
  await stage.until("it is reported", async () => {
    return (await stage.condition(TrainingJob, "early", "Degraded")) === "True InvalidSpec";
  });
  assert.deepEqual(await podsOf(stage, "early"), []);
  await stage.client.patch(TrainingJob, `${stage.namespace}/early`, { merge: { spec: { env: null } } } as never);
  await untilPhase(stage, "early", "Running");
});

onEmbedded("users are warned of what will surprise them", async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("forgetful", { checkpointDir: "/c" }));
  await untilPhase(stage, "forgetful", "Running");
  const [pod] = await podsOf(stage, "forgetful");
  assert.deepEqual(pod!.spec!.volumes!.find(({ name }) => name === "checkpoints")?.emptyDir, {});
});
