import assert from "node:assert/strict";
import { ClusterTrainingRuntime, kubeflowOperator, TrainJob } from "@konverge/kubeflow-operator";
import { type Scenario, supplyVolumes, type TestEnvironment } from "@konverge/operator-suite";
import { Job as BatchJob, ConfigMap, Deployment, Event, PersistentVolumeClaim, Pod, Service } from "konverge/kinds";
import { deleteJob, endPod } from "./jobs.ts";

export const IMAGE = "example.com/train:1.0";
const API = "trainer.kubeflow.org/v1alpha1";

/** A Job of a runtime, with one container. */
export const step = (name: string, ancestor?: string, more: object = {}, container: object = {}) => ({
  name,
  ...more,
  template: {
    ...(ancestor && { metadata: { labels: { "trainer.kubeflow.org/trainjob-ancestor-step": ancestor } } }),
    spec: { template: { spec: { containers: [{ name, image: IMAGE, command: ["train"], ...container }] } } },
  },
});

/** A runtime for torchrun, or what `spec` says. */
export const runtime = (name: string, spec: object = {}, kind = "ClusterTrainingRuntime") => ({
  apiVersion: API,
  kind,
  metadata: { name },
  spec: {
    mlPolicy: { numNodes: 2, torch: {} },
    template: { spec: { replicatedJobs: [step("node", "trainer")] } },
    ...spec,
  },
});

/** A TrainJob as users write it. */
export const trainJob = (name: string, spec: object = {}) => ({
  apiVersion: API,
  kind: "TrainJob",
  metadata: { name },
  spec: { runtimeRef: { name: "torch" }, trainer: {}, ...spec },
});

const mount = { volumeMounts: [{ name: "initializer", mountPath: "/workspace" }] };

/** A dataset is downloaded into a volume before the training starts. */
const finetune = () =>
  runtime(
    "finetune",
    {
      template: {
        spec: {
          volumeClaimPolicies: [
            {
              templates: [
                {
                  metadata: { name: "initializer" },
                  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
                },
              ],
            },
          ],
          replicatedJobs: [
            step("dataset-initializer", "dataset-initializer", {}, mount),
            step("node", "trainer", { dependsOn: [{ name: "dataset-initializer", status: "Complete" }] }, mount),
          ],
        },
      },
    },
    "TrainingRuntime",
  );
const finetuning = (name: string, spec: object = {}) =>
  trainJob(name, {
    runtimeRef: { kind: "TrainingRuntime", name: "finetune" },
    initializer: { dataset: {} },
    ...spec,
  });

/** Pods run until the test ends them: simulated pods of a Job would complete otherwise. */
export async function start(stage: TestEnvironment): Promise<void> {
  stage.cluster?.image(IMAGE, {
    async run({ stop }) {
      await new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
      return 143;
    },
  });
  await stage.start(kubeflowOperator);
}

export const conditions = async (stage: TestEnvironment, name: string) =>
  (await stage.find(TrainJob, name))?.status?.conditions ?? [];
export const until = (stage: TestEnvironment, name: string, type: string, reason?: string) =>
  stage.until(`${name} is ${type} ${reason ?? ""}`, async () =>
    (await conditions(stage, name)).some(
      (one) => one.type === type && (reason ? one.reason === reason : one.status === "True"),
    ),
  );
export const podsOf = async (stage: TestEnvironment, name: string, which = "node") =>
  (
    await stage.list(Pod, `jobset.sigs.k8s.io/jobset-name=${name},jobset.sigs.k8s.io/replicatedjob-name=${which}`)
  ).filter(({ status, metadata }) => status?.phase === "Running" && !metadata.deletionTimestamp);
export const running = (stage: TestEnvironment, name: string, count: number, which = "node") =>
  stage.until(`${count} pods of ${name} run`, async () => (await podsOf(stage, name, which)).length === count);
/** Ends pods as they come, also those that replace deleted ones, until there is nothing left to do. */
const endAll = (stage: TestEnvironment, name: string, exitCode: number, wanted: string) =>
  stage.until(`${name} ends and is ${wanted}`, async () => {
    for (const which of ["dataset-initializer", "node"]) {
      for (const pod of await podsOf(stage, name, which)) await endPod(stage, pod.metadata.name, exitCode);
    }
    return (await conditions(stage, name)).some(({ type, status }) => type === wanted && status === "True");
  });
/** Ends the initializer, also one that replaces a deleted one, until the training runs. */
const initialize = (stage: TestEnvironment, name: string) =>
  stage.until(`${name} is initialized and trains`, async () => {
    for (const pod of await podsOf(stage, name, "dataset-initializer")) await endPod(stage, pod.metadata.name, 0);
    return (await podsOf(stage, name)).length === 2;
  });
/** The variables of a pod, but for the one that Jobs add. */
export const variablesOf = (pod: Pod | undefined) =>
  (pod?.spec?.containers[0]?.env ?? [])
    .filter(({ name }) => name !== "JOB_COMPLETION_INDEX")
    .map(({ name, value, valueFrom }) => `${name}=${value ?? valueFrom?.fieldRef?.fieldPath}`);
export const suspend = (stage: TestEnvironment, name: string, to: boolean, spec: object = {}) =>
  stage.client.patch(TrainJob, `${stage.namespace}/${name}`, { merge: { spec: { suspend: to, ...spec } } } as never);
const jobsStatus = async (stage: TestEnvironment, name: string) =>
  Object.fromEntries(
    ((await stage.get(TrainJob, name)).status?.jobsStatus ?? []).map(({ name: which, ...rest }) => [which, rest]),
  );

/** Two pods under upstream's names and variables, done when both are. */
export const trainJobRuns: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(runtime("torch"));
  await stage.apply(trainJob("mnist", { trainer: { env: [{ name: "EPOCHS", value: "3" }], numProcPerNode: 4 } }));
  await running(stage, "mnist", 2);
  const job = await stage.get(BatchJob, "mnist-node-0");
  assert.equal(job.spec?.completionMode, "Indexed");
  assert.equal(job.spec?.completions, 2);
  const [pod] = (await podsOf(stage, "mnist")).sort((a, b) => (a.spec!.hostname! < b.spec!.hostname! ? -1 : 1));
  assert.equal(pod?.spec?.hostname, "mnist-node-0-0");
  assert.equal(pod?.spec?.subdomain, "mnist");
  assert.deepEqual(variablesOf(pod), [
    "EPOCHS=3",
    "PET_NNODES=2",
    "PET_NPROC_PER_NODE=4",
    "PET_NODE_RANK=metadata.annotations['batch.kubernetes.io/job-completion-index']",
    "PET_MASTER_ADDR=mnist-node-0-0.mnist",
    "PET_MASTER_PORT=29500",
  ]);
  const { spec } = await stage.get(Service, "mnist");
  assert.equal(spec?.clusterIP, "None");
  assert.equal(spec?.publishNotReadyAddresses, true);
  await stage.until("both are ready", async () => (await jobsStatus(stage, "mnist"))["node"]?.ready === 1);
  await endAll(stage, "mnist", 0, "Complete");
  const [complete] = (await conditions(stage, "mnist")).slice(-1);
  assert.equal(complete?.reason, "AllJobsCompleted");
  assert.equal(complete?.message, "jobset completed successfully");
  await stage.settled();
  assert.deepEqual(await jobsStatus(stage, "mnist"), {
    node: { ready: 0, succeeded: 1, failed: 0, active: 0, suspended: 0 },
  });
};

/** What has ended is not trained again when its Job is deleted. */
export const trainJobDeletedAfterItsEnd: Scenario = async (stage) => {
  await trainJobRuns(stage);
  await deleteJob(stage, "mnist-node-0");
  await stage.until("its pods are gone", async () => (await podsOf(stage, "mnist")).length === 0);
  await stage.settled();
  assert.equal(await stage.find(BatchJob, "mnist-node-0"), undefined);
  assert.equal((await conditions(stage, "mnist")).at(-1)?.type, "Complete");
};

/** A suspended job has all but its Jobs. A claim that pods use could not be deleted and come back. */
export const trainJobResting: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(finetune());
  await stage.apply(finetuning("tune", { suspend: true }));
  await until(stage, "tune", "Suspended");
  await stage.settled();
};

/** A dataset is initialized before the training starts; both have the volume. */
export const trainJobInitialized: Scenario = async (stage) => {
  await start(stage);
  await supplyVolumes(stage, "1Gi");
  await stage.apply(finetune());
  await stage.apply(finetuning("tune", { initializer: { dataset: { storageUri: "hf://tatsu-lab/alpaca" } } }));
  await running(stage, "tune", 1, "dataset-initializer");
  const [first] = await podsOf(stage, "tune", "dataset-initializer");
  assert.deepEqual(variablesOf(first), ["STORAGE_URI=hf://tatsu-lab/alpaca"]);
  await stage.get(PersistentVolumeClaim, "initializer-tune");
  assert.equal(await stage.find(BatchJob, "tune-node-0"), undefined);
  await initialize(stage, "tune");
  const [node] = await podsOf(stage, "tune");
  assert.deepEqual(
    node?.spec?.volumes?.find(({ name }) => name === "initializer")?.persistentVolumeClaim?.claimName,
    "initializer-tune",
  );
  await endAll(stage, "tune", 0, "Complete");
  assert.equal((await conditions(stage, "tune")).at(-1)?.type, "Complete");
};

/** A Job that fails too often fails the training, and what still runs goes. */
export const trainJobFails: Scenario = async (stage) => {
  await start(stage);
  const node = step("node", "trainer");
  Object.assign(node.template.spec, { backoffLimit: 0 });
  Object.assign(node.template.spec.template.spec, { restartPolicy: "Never" });
  const replicatedJobs = [node, step("watcher")];
  await stage.apply(runtime("torch", { mlPolicy: { numNodes: 1 }, template: { spec: { replicatedJobs } } }));
  await stage.apply(trainJob("fails"));
  await running(stage, "fails", 1, "watcher");
  await endAll(stage, "fails", 1, "Failed");
  const [failed] = (await conditions(stage, "fails")).slice(-1);
  assert.equal(failed?.reason, "FailedJobs");
  assert.equal(failed?.message, "jobset failed due to one or more job failures (first failed job: fails-node-0)");
  await stage.until("nothing runs", async () => (await podsOf(stage, "fails", "watcher")).length === 0);
  await stage.settled();
  await stage.client.delete(Service, `${stage.namespace}/fails`);
  await stage.until("its Service is back", async () => (await stage.find(Service, "fails")) !== undefined);
  assert.deepEqual((await jobsStatus(stage, "fails"))["node"], {
    ready: 0,
    succeeded: 0,
    failed: 1,
    active: 0,
    suspended: 0,
  });
};

/** A suspended job has no pods; what has ended is not repeated, and patches count that were made meanwhile. */
export const trainJobSuspended: Scenario = async (stage) => {
  await start(stage);
  await supplyVolumes(stage, "1Gi");
  await stage.apply(finetune());
  await stage.apply(finetuning("rests", { suspend: true }));
  await until(stage, "rests", "Suspended", "Suspended");
  await stage.settled();
  assert.equal((await stage.list(BatchJob)).length, 0);
  assert.equal((await jobsStatus(stage, "rests"))["dataset-initializer"]?.suspended, 1);
  assert.equal((await jobsStatus(stage, "rests"))["node"]?.suspended, 0);
  await suspend(stage, "rests", false);
  await until(stage, "rests", "Suspended", "Resumed");
  await initialize(stage, "rests");
  await suspend(stage, "rests", true);
  await stage.until("nothing runs", async () => (await podsOf(stage, "rests")).length === 0);
  const nodeSelector = { "kubernetes.io/os": "linux" };
  const template = { spec: { template: { spec: { nodeSelector } } } };
  const trainingRuntimeSpec = { template: { spec: { replicatedJobs: [{ name: "node", template }] } } };
  await suspend(stage, "rests", false, {
    runtimePatches: [{ manager: "kueue.x-k8s.io/manager", trainingRuntimeSpec }],
  });
  await running(stage, "rests", 2);
  for (const pod of await podsOf(stage, "rests")) assert.deepEqual(pod.spec?.nodeSelector, nodeSelector);
  await endAll(stage, "rests", 0, "Complete");
};

/** A missing runtime is reported, and the job starts when it appears. */
export const trainJobWaits: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(trainJob("waits"));
  await stage.apply(trainJob("waits-too", { runtimeRef: { kind: "TrainingRuntime", name: "torch" } }));
  for (const name of ["waits", "waits-too"]) await until(stage, name, "Stalled", "RuntimeNotFound");
  await stage.apply(runtime("torch"));
  await running(stage, "waits", 2);
  await stage.apply(runtime("torch", {}, "TrainingRuntime"));
  await running(stage, "waits-too", 2);
  await stage.settled();
  for (const name of ["waits", "waits-too"]) assert.deepEqual(await conditions(stage, name), []);
};

/** A job keeps the runtime that it was started with, also when that is changed or gone. */
export const trainJobKeepsRuntime: Scenario = async (stage) => {
  await start(stage);
  await stage.apply(runtime("torch"));
  await stage.apply(trainJob("keeps"));
  await running(stage, "keeps", 2);
  const before = (await podsOf(stage, "keeps")).map(({ metadata }) => metadata.uid).sort();
  await stage.apply(runtime("torch", { mlPolicy: { numNodes: 1 } }));
  await stage.settled();
  await stage.client.delete(ClusterTrainingRuntime, "torch");
  await stage.settled();
  assert.deepEqual((await podsOf(stage, "keeps")).map(({ metadata }) => metadata.uid).sort(), before);
  await suspend(stage, "keeps", true);
  await stage.until("nothing runs", async () => (await podsOf(stage, "keeps")).length === 0);
  await suspend(stage, "keeps", false);
  await running(stage, "keeps", 2);
  await endAll(stage, "keeps", 0, "Complete");
  await stage.client.delete(TrainJob, `${stage.namespace}/keeps`);
  await stage.until("nothing is left", async () => {
    const left = [await stage.list(Pod), await stage.list(BatchJob), await stage.list(Service)].flat();
    return left.length === 0 && (await stage.find(ConfigMap, "keeps-runtime-snapshot")) === undefined;
  });
};

/** A job that takes too long fails; what is finished goes when its time to live is over. */
export const trainJobLimits: Scenario = async (stage) => {
  await start(stage);
  const spec = { ttlSecondsAfterFinished: 60, replicatedJobs: [step("node", "trainer")] };
  await stage.apply(runtime("torch", { template: { spec } }));
  await stage.apply(trainJob("slow", { activeDeadlineSeconds: 600 }));
  await running(stage, "slow", 2);
  await stage.apply(trainJob("quick", { activeDeadlineSeconds: 600 }));
  await running(stage, "quick", 2);
  await endAll(stage, "quick", 0, "Complete");
  await stage.get(BatchJob, "quick-node-0");
  await stage.advance(120_000);
  await stage.until("its Job is gone", async () => (await stage.find(BatchJob, "quick-node-0")) === undefined);
  await stage.until("its Service is gone", async () => (await stage.find(Service, "quick")) === undefined);
  await stage.advance(600_000);
  await until(stage, "slow", "Failed", "DeadlineExceeded");
  await stage.until("no pod is left", async () => (await podsOf(stage, "slow")).length === 0);
};

/** What is in the way is reported: a Job of that name, a pod without room. */
export const trainJobStuck: Scenario = async (stage) => {
  await start(stage);
  const template = { spec: { restartPolicy: "Never" as const, containers: [{ name: "other", image: IMAGE }] } };
  await stage.client.create(BatchJob, {
    metadata: { name: "stuck-node-0", namespace: stage.namespace },
    spec: { suspend: true, template },
  });
  await stage.apply(runtime("torch"));
  await stage.apply(trainJob("stuck"));
  await until(stage, "stuck", "Stalled", "NameTaken");
  await stage.client.delete(BatchJob, `${stage.namespace}/stuck-node-0`);
  await running(stage, "stuck", 2);
  await stage.apply(trainJob("wide", { trainer: { resourcesPerNode: { requests: { memory: "900Ti" } } } }));
  await until(stage, "wide", "Stalled", "Unschedulable");
  const { uid } = (await stage.get(BatchJob, "stuck-node-0")).metadata;
  await stage.client.patch(BatchJob, `${stage.namespace}/stuck-node-0`, {
    merge: { metadata: { labels: { "training.kubeflow.org/operator-name": null } } },
  } as never);
  await stage.until("a Job that lost its labels is replaced", async () => {
    const job = await stage.find(BatchJob, "stuck-node-0");
    return job !== undefined && job.metadata.uid !== uid;
  });
  await running(stage, "stuck", 2);
  await stage.until("it runs again", async () => (await conditions(stage, "stuck")).length === 0);
};

/** What could never run is refused, in upstream's words; what depends on the runtime is reported. */
export const badTrainJobs: Scenario = async (stage) => {
  await start(stage);
  const refused = (object: object, message: RegExp) => assert.rejects(stage.apply(object), message);
  await refused(
    trainJob("x", { runtimeRef: { kind: "JobSet", name: "a" } }),
    /unsupported runtime: JobSet\.trainer\.kubeflow/,
  );
  await refused(trainJob("x", { runtimeRef: undefined }), /runtimeRef: Required value/);
  await refused(trainJob("9x"), /metadata.name must match RFC 1035 DNS label format/);
  await refused(trainJob("x", { managedBy: "me" }), /managedBy: Unsupported value/);
  await refused(trainJob("x", { activeDeadlineSeconds: 0 }), /activeDeadlineSeconds/);
  await refused(trainJob("x", { initializer: { dataset: { storageUri: "nowhere" } } }), /must be a valid URI/);
  await refused(trainJob("x", { runtimePatches: [{ manager: "me" }] }), /must be a domain-prefixed path/);
  const patched = (spec: object) => ({
    podTemplateOverrides: [{ targetJobs: [{ name: "node" }], spec }],
  });
  await refused(trainJob("x", patched({ tolerations: [{ key: 1 }] })), /podTemplateOverrides\[0\]\.spec\.tolerations/);
  for (const [spec, message] of [
    [{ mlPolicy: { mpi: { mpiImplementation: "Intel" } } }, /mpiImplementation: Unsupported value: "Intel"/],
    [{ mlPolicy: { mpi: { mpiImplementation: "" } } }, /mpiImplementation: Invalid value: "": must be OpenMPI/],
    [{ mlPolicy: { flux: {} } }, /spec\.mlPolicy\.flux: Forbidden/],
    [{ mlPolicy: { torch: {}, jax: {} } }, /Only one of the policy can be configured/],
    [{ podGroupPolicy: { coscheduling: {}, volcano: {} } }, /spec\.podGroupPolicy\.coscheduling: Forbidden/],
    [
      { template: { spec: { replicatedJobs: [step("main", "trainer")] } } },
      /must contain the required container for the ancestor: trainer/,
    ],
    [
      { template: { spec: { replicatedJobs: [step("node", "trainer", { replicas: 2 })] } } },
      /replicas: Invalid value: 2: always must be 1/,
    ],
    [{ template: { spec: { replicatedJobs: [], failurePolicy: { maxRestarts: 3 } } } }, /failurePolicy: Forbidden/],
    [{ template: { spec: { replicatedJobs: [{ name: "node", template: {} }] } } }, /containers: Required value/],
    [
      { template: { spec: { replicatedJobs: [step("node", "trainer", {}, { env: "none" })] } } },
      /replicatedJobs\[0\]\.template\.spec\.template\.spec\.containers\[0\]\.env/,
    ],
    [
      {
        template: {
          spec: { replicatedJobs: [step("node", "trainer", { dependsOn: [{ name: "a", status: "Ready" }] })] },
        },
      },
      /must name an earlier replicatedJob/,
    ],
  ] as const) {
    await refused(runtime("bad", spec), message);
    await refused(runtime("bad", spec, "TrainingRuntime"), message);
  }
  await stage.apply(runtime("torch"));
  await stage.apply(trainJob("fixed", { trainer: { numNodes: 1, env: [{ name: "A", value: "1" }] } }));
  const changed = (spec: object) =>
    stage.client.patch(TrainJob, `${stage.namespace}/fixed`, { merge: { spec } } as never);
  for (const spec of [
    { runtimeRef: { name: "other" } },
    { trainer: { numNodes: 2 } },
    { trainer: { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }] } },
    { trainer: null },
    { initializer: { dataset: {} } },
    { managedBy: "kueue.x-k8s.io/multikueue" },
    { activeDeadlineSeconds: 5 },
  ]) {
    await assert.rejects(changed(spec), /field is immutable/, JSON.stringify(spec));
  }
  await assert.rejects(
    changed({ runtimePatches: [{ manager: "acme.io/me" }] }),
    /RuntimePatches can only be modified when the TrainJob is suspended before or after the update/,
  );
  const reported = async (name: string, spec: object, message: RegExp) => {
    await stage.apply(trainJob(name, spec));
    await until(stage, name, "Stalled", "InvalidSpec");
    assert.match((await conditions(stage, name))[0]?.message ?? "", message);
  };
  await reported("no-step", { initializer: { model: {} } }, /must have model-initializer job/);
  await reported(
    "reserved",
    { trainer: { env: [{ name: "PET_NNODES", value: "9" }] } },
    /reserved envs.*\[PET_NNODES\]/,
  );
  await reported("tunes", { trainer: { command: ["tune", "run"] } }, /torchtune/);
  const other = { podTemplateOverrides: [{ targetJobs: [{ name: "master" }] }] };
  await reported("no-target", other, /replicated job that doesn't exist/);
  await reported("no-container", patched({ containers: [{ name: "sidecar" }] }), /container that doesn't exist/);
  await reported("env", patched({ containers: [{ name: "node", env: [{ name: "A" }] }] }), /must not have envs/);
};

/** Where upstream's operator is installed, jobs are ignored; so are those of other controllers. */
export const trainJobOfOthers: Scenario = async (stage) => {
  const labels = { "app.kubernetes.io/name": "trainer", "app.kubernetes.io/part-of": "kubeflow" };
  await stage.client.create(Deployment, {
    metadata: { name: "kubeflow-trainer-controller-manager", namespace: stage.namespace, labels },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "manager", image: "ghcr.io/kubeflow/trainer/trainer-controller-manager" }] },
      },
    },
  });
  await start(stage);
  await stage.apply(runtime("torch"));
  await stage.apply(trainJob("theirs"));
  await stage.until("it is reported", async () =>
    (await stage.list(Event)).some(({ reason }) => reason === "UpstreamOperator"),
  );
  await stage.client.delete(Deployment, `${stage.namespace}/kubeflow-trainer-controller-manager`);
  await stage.apply(trainJob("kueues", { managedBy: "kueue.x-k8s.io/multikueue" }));
  await stage.settled();
  assert.equal((await stage.list(BatchJob)).length, 0);
};
