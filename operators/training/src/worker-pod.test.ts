import assert from "node:assert/strict";
import { test } from "node:test";
import { gpuProductsIn } from "konverge/pods";
import { exampleJob } from "../test/example-job.ts";
import { checkpointClaimFor } from "./checkpoint-claim.ts";
import { gangSize, schedulerPlugins, volcano } from "./gang-scheduler.ts";
import { argumentOf, hyperparametersConfigMap, hyperparametersOf, variableOf } from "./hyperparameters.ts";
import { specProblems } from "./spec-problems.ts";
import type { TrainingJob } from "./training-job.ts";
import { environmentOf } from "./worker-environment.ts";
import { podFor, specHash } from "./worker-pod.ts";
import { serviceFor } from "./worker-service.ts";

const PRODUCTS = ["NVIDIA-H100-80GB-HBM3"];
const worker = { role: "worker", index: 0, attempt: 0 } as const;
const podOf = (job: TrainingJob, member: Parameters<typeof podFor>[1] = worker) =>
  podFor(job, member, { hyperparameters: hyperparametersOf(job, undefined), gang: {}, products: PRODUCTS });
const containerOf = (job: TrainingJob) => podOf(job).spec!.containers[0]!;
const env = (job: TrainingJob, member: Parameters<typeof environmentOf>[1] = worker) =>
  Object.fromEntries(
    environmentOf(job, member, hyperparametersOf(job, undefined)).map(({ name, value }) => [name, value]),
  );

test("hyperparameters of any type become texts, and names become variables and arguments", () => {
  const job = exampleJob({ hyperparameters: { learningRate: 0.001, optimizer: "adam", amp: true, layers: [1, 2] } });
  const given = hyperparametersOf(job, undefined);
  assert.deepEqual(given, { amp: "true", layers: "[1,2]", learningRate: "0.001", optimizer: "adam" });
  assert.equal(variableOf("learningRate"), "HP_LEARNING_RATE");
  assert.equal(variableOf("batch-size.max"), "HP_BATCH_SIZE_MAX");
  assert.equal(argumentOf("learningRate", "0.1"), "--learning-rate=0.1");
  assert.deepEqual(JSON.parse(hyperparametersConfigMap(job, given)!.data!["hyperparameters.json"]!), given);
});

test("they are passed as it was said, and the job's own win over the ConfigMap's", () => {
  const job = exampleJob({ hyperparameters: { depth: 4 }, passHyperparameters: ["args"] });
  assert.deepEqual(containerOf(job).args, ["--depth=4"]);
  assert.equal(env(job)["HP_DEPTH"], undefined);
  assert.equal(hyperparametersConfigMap(job, { depth: "4" }), undefined);
  const from = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c" },
    data: { depth: "1", seed: "7" },
  } as const;
  assert.deepEqual(hyperparametersOf(job, from), { depth: "4", seed: "7" });
});

test("what the operator sets cannot be replaced; other variables are the user's", () => {
  const job = exampleJob({
    env: [
      { name: "RANK", value: "9" },
      { name: "NCCL_DEBUG", value: "INFO" },
    ],
  });
  assert.deepEqual([env(job)["RANK"], env(job)["NCCL_DEBUG"]], ["0", "INFO"]);
});

test("workers have a name and a home that they can write to, unless they run as root", () => {
  const job = exampleJob({ dataVolume: { claimName: "data" } });
  const { spec } = podOf(job);
  const [trainer] = spec!.containers;
  const value = (name: string) => trainer!.env!.find((one) => one.name === name)?.value;
  assert.deepEqual([value("HOME"), value("USER")], ["/home/trainer", "trainer"]);
  assert.equal(trainer?.volumeMounts?.find(({ name }) => name === "home")?.mountPath, "/home/trainer");
  assert.deepEqual(spec?.volumes?.find(({ name }) => name === "home")?.emptyDir, {});
  const own = containerOf(exampleJob({ env: [{ name: "HOME", value: "/data" }] }));
  assert.deepEqual(
    own.env?.filter(({ name }) => name === "HOME"),
    [{ name: "HOME", value: "/data" }],
  );
  for (const template of [
    { spec: { securityContext: { runAsUser: 0 } } },
    { spec: { containers: [{ name: "trainer", securityContext: { runAsUser: 0 } }] } },
  ]) {
    const root = podOf(exampleJob({ template })).spec!;
    assert.equal(
      root.containers[0]!.env?.some(({ name }) => name === "HOME" || name === "USER"),
      false,
    );
    assert.equal(
      root.volumes?.some(({ name }) => name === "home"),
      false,
    );
  }
  const there = podOf(exampleJob({ dataVolume: { claimName: "data", mountPath: "/home/trainer" } })).spec!;
  assert.equal(there.containers[0]!.volumeMounts?.filter(({ mountPath }) => mountPath === "/home/trainer").length, 1);
});

test("workers of a later attempt know where to go on, if there is a volume that kept it", () => {
  const spec = { checkpointDir: "/c", checkpointVolume: { size: "1Gi" } };
  const lastCheckpoint = { path: "/c/9", reportedAt: "2026-01-01T00:00:00Z" };
  const later = { ...worker, attempt: 1 };
  assert.equal(env(exampleJob(spec, { lastCheckpoint }))["RESUME"], undefined);
  const { RESUME, RESUME_CHECKPOINT } = env(exampleJob(spec, { lastCheckpoint }), later);
  assert.deepEqual([RESUME, RESUME_CHECKPOINT], ["true", "/c/9"]);
  assert.equal(env(exampleJob({ checkpointDir: "/c" }, { lastCheckpoint }), later)["RESUME"], undefined);
});

test("pods have names that resolve, and what was asked for", () => {
  const job = exampleJob({
    gpuPerWorker: 2,
    gpuType: "H100",
    resources: { requests: { cpu: 4 }, limits: { memory: "8Gi" } },
    dataVolume: { claimName: "data", readOnly: true },
    nodeSelector: { zone: "a" },
    serviceAccountName: "trainer",
    imagePullSecrets: [{ name: "pull" }],
    scheduling: { priorityClassName: "high" },
    podMetadata: { labels: { team: "x", "ml.example.com/index": "nonsense" }, annotations: { a: "b" } },
  });
  const { metadata, spec } = podOf(job, { ...worker, index: 1 });
  assert.deepEqual([spec?.hostname, spec?.subdomain], ["mnist-worker-1", serviceFor(job).metadata.name]);
  assert.equal(spec?.restartPolicy, "Never");
  assert.deepEqual(spec?.nodeSelector, { zone: "a" });
  assert.deepEqual(gpuProductsIn(spec?.affinity), PRODUCTS);
  assert.deepEqual([spec?.serviceAccountName, spec?.priorityClassName], ["trainer", "high"]);
  assert.deepEqual(spec?.containers[0]?.resources, {
    limits: { memory: "8Gi", "nvidia.com/gpu": "2" },
    requests: { cpu: "4" },
  });
  assert.deepEqual(spec?.volumes?.[0], { name: "data", persistentVolumeClaim: { claimName: "data", readOnly: true } });
  assert.deepEqual(spec?.containers[0]?.volumeMounts?.[0], { name: "data", mountPath: "/data", readOnly: true });
  assert.deepEqual([metadata.labels?.["team"], metadata.labels?.["ml.example.com/index"]], ["x", "1"]);
  assert.deepEqual(metadata.annotations, { a: "b" });
});

test("what affects pods changes the name of their spec; anything else leaves them unchanged", () => {
  const hash = (spec: Parameters<typeof exampleJob>[0], parameters = {}) => specHash(exampleJob(spec), parameters);
  const same = hash({});
  for (const spec of [
    { image: "x" },
    { workers: 3 },
    { args: ["a"] },
    { env: [{ name: "A", value: "b" }] },
    { gpuPerWorker: 1 },
  ]) {
    assert.notEqual(hash(spec), same, JSON.stringify(spec));
  }
  assert.notEqual(hash({}, { depth: "1" }), same);
  for (const spec of [
    { backoffLimit: 9 },
    { suspend: true },
    { ttlSecondsAfterFinished: 1 },
    { cleanPodPolicy: "All" as const },
    { podMetadata: {} },
    { tolerations: [] },
    { args: [] },
  ]) {
    assert.equal(hash(spec), same, JSON.stringify(spec));
  }
  const elastic = { minWorkers: 1, maxWorkers: 9 };
  assert.equal(hash({ elastic, workers: 3 }), hash({ elastic, workers: 4 }));
});

test("a claim is made for all who write to it, unless one is named", () => {
  const claim = (spec: object) => checkpointClaimFor(exampleJob({ checkpointDir: "/c", ...spec }));
  const modes = (spec: object) => claim({ checkpointVolume: { size: 5 }, ...spec })?.spec?.accessModes;
  assert.deepEqual([modes({ workers: 1 }), modes({ workers: 2 })], [["ReadWriteOnce"], ["ReadWriteMany"]]);
  assert.equal(claim({ checkpointVolume: { size: "5Gi", storageClassName: "fast" } })?.spec?.storageClassName, "fast");
  assert.equal(claim({ checkpointVolume: { claimName: "mine" } }), undefined);
  assert.equal(claim({}), undefined);
});

test("the PodGroup has the number of pods that must start together", () => {
  const elastic = exampleJob({ workers: 4, elastic: { minWorkers: 2, maxWorkers: 8 } });
  assert.equal(schedulerPlugins("default-scheduler").podGroup(elastic).spec.minMember, 2);
  assert.equal(gangSize(exampleJob({ framework: "tensorflow", workers: 4, parameterServers: { count: 2 } })), 6);
  const queued = exampleJob({ scheduling: { queue: "research" } });
  assert.deepEqual(volcano.podGroup(queued).spec, { minMember: 2, queue: "research" });
});

test("a job without an image or a command is reported as an error", () => {
  const bare = { metadata: { name: "test-job", namespace: "default" }, spec: { framework: "pytorch", workers: 2 } };
  const fields = specProblems(bare as unknown as TrainingJob).map(({ field }) => field);
  assert.deepEqual(fields, ["spec.image", "spec.command"]);
});
