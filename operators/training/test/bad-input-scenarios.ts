import assert from "node:assert/strict";
import { lateNode, type Scenario, type TestEnvironment, unpullable } from "@konverge/operator-suite";
import { TrainingJob, trainingOperator } from "@konverge/training-operator";
import { Pod } from "konverge/kinds";
import { restrictedPodSpec } from "konverge/pods";
import { job, podsOf, statusOf, untilPhase } from "./jobs.ts";

/** What the API server refuses, and with which words. */
const REFUSED: readonly [string, object, RegExp][] = [
  ["a word for a number", { workers: "four" }, /spec\.workers: Invalid value: "string"|expected numeric/],
  ["no workers", { workers: 0 }, /spec\.workers.*greater than or equal to 1/],
  ["too many workers", { workers: 101 }, /spec\.workers.*less than or equal to 100/],
  ["too many GPUs", { gpuPerWorker: 9 }, /spec\.gpuPerWorker.*less than or equal to 8/],
  ["an unknown framework", { framework: "caffe" }, /spec\.framework: Unsupported value: "caffe"/],
  ["no image", { image: undefined }, /spec\.image: Required value/],
  ["no command", { command: undefined }, /spec\.command: Required value/],
  ["elastic bounds the wrong way round", { elastic: { minWorkers: 4, maxWorkers: 2 } }, /minWorkers must not exceed/],
  ["more workers than bounds", { elastic: { minWorkers: 3, maxWorkers: 4 } }, /within the bounds of elastic/],
  ["elastic TensorFlow", { framework: "tensorflow", elastic: { minWorkers: 1, maxWorkers: 2 } }, /only pytorch/],
  ["parameter servers for PyTorch", { parameterServers: { count: 1 } }, /parameter servers need TensorFlow/],
  ["a type of no GPUs", { gpuType: "H100" }, /no GPUs are requested/],
  ["a checkpoint volume without a path", { checkpointVolume: { size: "1Gi" } }, /checkpointVolume needs checkpointDir/],
  [
    "a claim both named and made",
    { checkpointDir: "/c", checkpointVolume: { size: "1Gi", claimName: "mine" } },
    /needs either claimName or size/,
  ],
  [
    "two volumes at one path",
    { checkpointDir: "/data/", dataVolume: { claimName: "d" } },
    /checkpointDir.*cannot be mounted at the same path/,
  ],
  [
    "a request above its limit",
    { resources: { requests: { cpu: "2" }, limits: { cpu: "500m" } } },
    /resources\.requests\[cpu\].*exceeds the limit of 500m/,
  ],
  [
    "GPUs that contradict each other",
    { gpuPerWorker: 1, resources: { limits: { "nvidia.com/gpu": 4 } } },
    /gpuPerWorker requests 1/,
  ],
  ["a rank of one's own", { env: [{ name: "RANK", value: "7" }] }, /RANK is set by the operator/],
  ["two parameters with one name", { hyperparameters: { learningRate: 1, learning_rate: 2 } }, /HP_LEARNING_RATE/],
];

/** Jobs that cannot be are refused, each with what is wrong and where. */
export const nonsenseIsRefused: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.until("admission is asked", () => isRefused(stage, { env: [{ name: "RANK", value: "7" }] }));
  for (const [what, spec, message] of REFUSED)
    await assert.rejects(stage.apply(job("bad", spec as never)), message, what);
  await assert.rejects(stage.apply(job("a".repeat(51))), /the name becomes part of host names/);
  await assert.rejects(stage.apply(job("1st")), /the name becomes part of host names/);
  await assert.rejects(stage.apply(job("a.b")), /the name becomes part of host names/);
  assert.deepEqual(await stage.list(TrainingJob), []);
};

async function isRefused(stage: TestEnvironment, spec: Record<string, unknown>): Promise<boolean> {
  return stage.client
    .create(TrainingJob, { ...job("probe", spec), metadata: { name: "probe", namespace: stage.namespace } } as never, {
      dryRun: true,
    })
    .then(
      () => false,
      (error: Error) => /set by the operator/.test(error.message),
    );
}

/** Waits for the condition, the event, and then for silence. */
async function isDegraded(stage: TestEnvironment, name: string, reason: string): Promise<void> {
  await stage.until(`${name} is degraded: ${reason}`, async () => {
    return (await stage.condition(TrainingJob, name, "Degraded")) === `True ${reason}`;
  });
  await stage.until("an event tells it", async () => {
    return (await stage.events(TrainingJob, name)).some((event) => event.startsWith(`Warning ${reason}`));
  });
  assert.equal((await statusOf(stage, name)).phase, "Pending");
  await stage.settled();
  const writes = stage.writes();
  await stage.advance(stage.where === "embedded" ? 60_000 : 3_000);
  // A refused pod is asked for again now and then: a write that fails, not a loop.
  assert.ok(stage.writes() - writes <= 4, `${stage.writes() - writes} writes in a minute`);
}

async function recovers(stage: TestEnvironment, name: string): Promise<void> {
  await untilPhase(stage, name, "Running");
  assert.equal(await stage.condition(TrainingJob, name, "Degraded"), "False AsExpected");
}

const patch = (stage: TestEnvironment, name: string, spec: object) =>
  stage.client.patch(TrainingJob, `${stage.namespace}/${name}`, { merge: { spec } } as never);

/** A claim that does not exist. */
export const aClaimIsMissing: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("dataless", { dataVolume: { claimName: "nowhere" } }));
  await isDegraded(stage, "dataless", "ClaimNotFound");
  await patch(stage, "dataless", { dataVolume: null });
  await recovers(stage, "dataless");
};

/** A ConfigMap that does not exist. */
export const aConfigMapIsMissing: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("tuned", { hyperparametersFrom: { configMapName: "sweep" }, hyperparameters: { seed: 7 } }));
  await isDegraded(stage, "tuned", "ConfigMapNotFound");
  await stage.apply({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "sweep" },
    data: { seed: "1", depth: "4" },
  });
  await recovers(stage, "tuned");
  const env = async () => (await podsOf(stage, "tuned"))[0]!.spec!.containers[0]!.env!;
  const value = async (name: string) => (await env()).find((one) => one.name === name)?.value;
  assert.deepEqual([await value("HP_SEED"), await value("HP_DEPTH")], ["7", "4"]);
  // A change of the ConfigMap is a change of the job: it restarts the workers.
  await stage.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "sweep" }, data: { depth: "8" } });
  await stage.until("workers have the new value", async () => {
    return (await statusOf(stage, "tuned")).phase === "Running" && (await value("HP_DEPTH")) === "8";
  });
};

/** A type of GPU that no node has. */
export const anUnknownGpuType: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("exotic", { gpuPerWorker: 1, gpuType: "TPU-v9" }));
  await isDegraded(stage, "exotic", "Unschedulable");
  await patch(stage, "exotic", { gpuType: null });
  await recovers(stage, "exotic");
};

/** More than any node has. */
export const anImpossibleSize: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("huge", { resources: { requests: { memory: "900Ti" } } }));
  await isDegraded(stage, "huge", "Unschedulable");
  await patch(stage, "huge", { resources: { requests: { memory: "1Gi" } } });
  await recovers(stage, "huge");
};

/** A quota that leaves no room for all workers. */
export const aQuotaIsExceeded: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  const quota = (pods: string) =>
    stage.apply({ apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "small" }, spec: { hard: { pods } } });
  await quota("1");
  await stage.until("the quota counts", async () => {
    const { items } = await stage.client.list(
      { group: "", version: "v1", kind: "ResourceQuota", plural: "resourcequotas", namespaced: true },
      { namespace: stage.namespace },
    );
    return (items[0] as { status?: { hard?: object } } | undefined)?.status?.hard !== undefined;
  });
  await stage.apply(job("crowded", { workers: 3 }));
  await isDegraded(stage, "crowded", "QuotaExceeded");
  await quota("5");
  await recovers(stage, "crowded");
};

/** A pod that the job does not own has a worker's name: it is ignored. */
export const aNameIsTaken: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "squat-worker-1" },
    spec: restrictedPodSpec({ containers: [{ name: "c", image: "busybox" }] }),
  });
  const { metadata } = await stage.get(Pod, "squat-worker-1");
  await stage.apply(job("squat"));
  await isDegraded(stage, "squat", "NameTaken");
  assert.equal((await stage.get(Pod, "squat-worker-1")).metadata.uid, metadata.uid);
  await stage.client.delete(Pod, `${stage.namespace}/squat-worker-1`, { gracePeriodSeconds: 0 });
  await recovers(stage, "squat");
};

/** No nodes at all, until one comes. */
export const thereAreNoNodes: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("nowhere"));
  await isDegraded(stage, "nowhere", "Unschedulable");
  await lateNode(stage);
  await recovers(stage, "nowhere");
};

/** An image that cannot be pulled is named once, and the job starts with another one. */
export const anImageIsMissing: Scenario = async (stage) => {
  unpullable(stage, "registry.example/none:1");
  await stage.start(trainingOperator);
  await stage.apply(job("typo", { image: "registry.example/none:1" }));
  await isDegraded(stage, "typo", "ImagePullFailed");
  const events = await stage.events(TrainingJob, "typo");
  assert.equal(events.filter((one) => /ImagePullFailed.*example\/none:1/.test(one)).length, 1, events.join("\n"));
  await patch(stage, "typo", { image: "pytorch/pytorch:2" });
  await recovers(stage, "typo");
};
