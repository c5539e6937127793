import assert from "node:assert/strict";
import { attachVolumes, type Scenario, supplyVolumes, withNarrowerDefinition } from "@konverge/operator-suite";
import { TrainingJob, trainingOperator } from "@konverge/training-operator";
import { ConfigMap, Event, PersistentVolumeClaim, Service } from "konverge/kinds";
import { gpuProductsIn } from "konverge/pods";
import { endAll, envOf, job, namesOf, podsOf, statusOf, untilPhase } from "./jobs.ts";

/** The least that takes all children there are. */
export const aJobRuns: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(
    job("runs", {
      hyperparameters: { depth: 3 },
      checkpointDir: "/c",
      checkpointVolume: { size: "1Gi", onDelete: "Delete" },
    }),
  );
  await untilPhase(stage, "runs", "Running");
};

/** GPUs are asked for by the name that people use; nodes have NVIDIA's. */
export const aJobFindsItsGpus: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("on-h100", { gpuPerWorker: 1, gpuType: "H100" }));
  await untilPhase(stage, "on-h100", "Running");
  for (const { spec } of await podsOf(stage, "on-h100")) {
    assert.deepEqual(gpuProductsIn(spec?.affinity), ["NVIDIA-H100-80GB-HBM3"]);
    assert.match(spec?.nodeName ?? "", /^gpu-h100-/);
  }
};

/** From its creation to its end: pods, Service, environment, phases, times, events. */
export const aJobSucceeds: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("mnist", { workers: 3, hyperparameters: { learningRate: 0.001, optimizer: "adam" } }));
  await untilPhase(stage, "mnist", "Running");

  const pods = await podsOf(stage, "mnist");
  assert.deepEqual(namesOf(pods), ["mnist-worker-0", "mnist-worker-1", "mnist-worker-2"]);
  const created = await stage.get(TrainingJob, "mnist");
  assert.deepEqual(created.metadata.finalizers, ["trainingjob.ml.example.com/finalizer"]);
  for (const [index, pod] of pods.entries()) {
    const [owner] = pod.metadata.ownerReferences ?? [];
    assert.deepEqual([owner?.uid, owner?.controller], [created.metadata.uid, true]);
    const { MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE, HP_LEARNING_RATE, HP_OPTIMIZER } = envOf(pod);
    assert.equal(MASTER_ADDR, `mnist-worker-0.mnist-workers.${stage.namespace}.svc`);
    assert.deepEqual([MASTER_PORT, RANK, WORLD_SIZE], ["23456", String(index), "3"]);
    assert.deepEqual([HP_LEARNING_RATE, HP_OPTIMIZER], ["0.001", "adam"]);
  }
  const service = await stage.get(Service, "mnist-workers");
  assert.equal(service.spec?.clusterIP, "None");
  assert.equal(service.spec?.publishNotReadyAddresses, true);
  const { data } = await stage.get(ConfigMap, "mnist-hyperparameters");
  assert.deepEqual(JSON.parse(data!["hyperparameters.json"]!), { learningRate: "0.001", optimizer: "adam" });

  const running = await statusOf(stage, "mnist");
  assert.ok(running.startTime);
  assert.deepEqual(
    running.workerStatuses?.map(({ workerId, podName, status }) => [workerId, podName, status]),
    [0, 1, 2].map((id) => [id, `mnist-worker-${id}`, "Running"]),
  );
  assert.equal(await stage.condition(TrainingJob, "mnist", "Ready"), "True WorkersRunning");

  await endAll(stage, "mnist");
  await untilPhase(stage, "mnist", "Succeeded");
  const done = await statusOf(stage, "mnist");
  assert.ok(done.completionTime! >= done.startTime!);
  assert.equal(done.startTime, running.startTime);
  assert.equal(await stage.condition(TrainingJob, "mnist", "Succeeded"), "True TrainingSucceeded");
  assert.deepEqual(namesOf(await podsOf(stage, "mnist")), namesOf(pods));
  const events = await stage.events(TrainingJob, "mnist");
  assert.ok(events.includes("Normal WorkersCreated Created 3 worker pods"), events.join("\n"));
  // What pods mount is there before them: a node that finds it missing waits longer and longer.
  const mounts = (await stage.list(Event)).filter(({ reason }) => reason === "FailedMount");
  assert.deepEqual(mounts, []);

  await stage.client.delete(TrainingJob, `${stage.namespace}/mnist`);
  await stage.until("all of it is gone", async () => {
    const left = [...(await podsOf(stage, "mnist")), await stage.find(Service, "mnist-workers")];
    return !(await stage.find(TrainingJob, "mnist")) && left.every((one) => one === undefined);
  });
};

/** The CRD of a tutorial is installed: no defaults, no second version, few fields in the status. */
export const aJobRunsByALesserDefinition: Scenario = async (stage) => {
  await supplyVolumes(stage, "1Gi");
  await stage.start(trainingOperator);
  await stage.client.create(PersistentVolumeClaim, {
    metadata: { name: "data", namespace: stage.namespace },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  const fields = ["phase", "startTime", "completionTime", "workerStatuses", "conditions"];
  await withNarrowerDefinition(stage, "trainingjobs.ml.example.com", fields, async () => {
    await stage.apply(job("plain", { checkpointDir: "/checkpoints", dataVolume: { claimName: "data" } }));
    await untilPhase(stage, "plain", "Running");
    await endAll(stage, "plain");
    await untilPhase(stage, "plain", "Succeeded");
  });
};

/** Volumes that are attached to one node at a time: workers that share one run there. */
export const workersShareAVolume: Scenario = async (stage) => {
  await attachVolumes(stage);
  await stage.start(trainingOperator);
  const claim = (name: string, mode: "ReadWriteOnce" | "ReadWriteOncePod") =>
    stage.client.create(PersistentVolumeClaim, {
      metadata: { name, namespace: stage.namespace },
      spec: { accessModes: [mode], resources: { requests: { storage: "1Gi" } } },
    });
  await claim("data", "ReadWriteOnce");
  await stage.apply(job("shared", { workers: 4, dataVolume: { claimName: "data" } }));
  await untilPhase(stage, "shared", "Running");
  const nodes = new Set((await podsOf(stage, "shared")).map(({ spec }) => spec?.nodeName));
  assert.equal(nodes.size, 1);
  await endAll(stage, "shared");
  await untilPhase(stage, "shared", "Succeeded");

  await claim("single", "ReadWriteOncePod");
  await stage.apply(job("refused", { dataVolume: { claimName: "single" } }));
  await stage.until(
    "it is refused",
    async () => (await stage.condition(TrainingJob, "refused", "Degraded")) === "True ClaimNotShareable",
  );
  assert.deepEqual(await podsOf(stage, "refused"), []);
};
