import assert from "node:assert/strict";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { RayCluster, rayOperator } from "@konverge/ray-operator";
import { Event, Job, Pod } from "konverge/kinds";
import { sample } from "./scenarios.ts";

const DURABLE = sample("fault-tolerant");
const FINALIZER = "ray.io/gcs-ft-redis-cleanup-finalizer";

/** Nodes of Ray that run, and a pod that removes keys, which ends as given. Where nodes run nothing, it succeeds. */
function play(stage: TestEnvironment, cleanup: "hangs" | number): void {
  stage.cluster?.image("rayproject/ray:2.46.0", {
    async run({ container, stop }) {
      if (container.name === "wait-gcs-ready") return 0;
      if (/cleanup_redis_storage/.test(container.args?.[0] ?? "") && cleanup !== "hangs") return cleanup;
      await new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
      return 143;
    },
    exec: async () => 0,
  });
}

const ready = (stage: TestEnvironment) =>
  stage.until(
    "the cluster is ready",
    async () => (await stage.condition(RayCluster, "durable", "Ready")) === "True AsExpected",
  );
const variablesOf = ({ spec }: Pod) => new Map(spec!.containers[0]!.env!.map((one) => [one.name, one]));

async function isDeleted(stage: TestEnvironment): Promise<void> {
  await stage.client.delete(RayCluster, `${stage.namespace}/durable`);
  await stage.until("nothing is left", async () => {
    const [jobs, pods] = [await stage.list(Job), await stage.list(Pod)];
    // A head that is at work would write keys again.
    const heads = pods.filter(({ metadata }) => metadata.labels?.["ray.io/node-type"] === "head");
    assert.ok(jobs.length === 0 || heads.length === 0, "the keys are removed while the head is at work");
    return jobs.length + pods.length === 0 && (await stage.find(RayCluster, "durable")) === undefined;
  });
}

/** The head's state is in Redis: workers outlive it, and its keys are removed with the cluster. */
export const faultTolerant: Scenario = async (stage) => {
  play(stage, 0);
  await stage.start(rayOperator);
  await stage.apply(DURABLE);
  await ready(stage);
  const { metadata } = await stage.get(RayCluster, "durable");
  assert.deepEqual(metadata.finalizers, [FINALIZER]);
  const head = await stage.get(Pod, "durable-head-0");
  assert.match(head.spec!.containers[0]!.args![0]!, /--redis-password="\$REDIS_PASSWORD"/);
  assert.equal(head.metadata.annotations?.["ray.io/ft-enabled"], "true");
  const variables = variablesOf(head);
  assert.equal(variables.get("RAY_REDIS_ADDRESS")?.value, "redis:6379");
  assert.equal(variables.get("RAY_external_storage_namespace")?.value, metadata.uid);
  assert.deepEqual(variables.get("REDIS_PASSWORD")?.valueFrom?.secretKeyRef, { name: "redis", key: "password" });
  const workers = async () => {
    const all = (await stage.list(Pod)).filter((pod) => pod.metadata.labels?.["ray.io/node-type"] === "worker");
    return all.map((pod) => pod.metadata.uid);
  };
  const before = await workers();
  const worker = variablesOf(await stage.get(Pod, "durable-small-worker-0"));
  assert.equal(worker.get("RAY_gcs_rpc_server_reconnect_timeout_s")?.value, "600");
  assert.equal(worker.get("REDIS_PASSWORD"), undefined);

  await stage.client.delete(Pod, `${stage.namespace}/durable-head-0`);
  // Its name is another one if the operator learns late that the old one is gone.
  await stage.until("there is another head", async () => {
    const heads = await stage.list(Pod, "ray.io/node-type=head");
    return heads.some(({ metadata }) => metadata.uid !== head.metadata.uid);
  });
  await ready(stage);
  assert.deepEqual(await workers(), before);
  await isDeleted(stage);
};

/** A cluster without fault tolerance has nothing to clean up. */
export const unheld: Scenario = async (stage) => {
  await stage.start(rayOperator);
  await stage.apply(sample("cluster"));
  await stage.settled();
  assert.equal((await stage.get(RayCluster, "science")).metadata.finalizers, undefined);
};

const isToldOf = async (stage: TestEnvironment, message: RegExp) => {
  const events = (await stage.list(Event)).filter(({ reason }) => reason === "RedisCleanupFailed");
  assert.match(events[0]?.message ?? "", message);
};

/** Keys that cannot be removed do not hold the cluster: an event names them. */
export const cleanupFails: Scenario = async (stage) => {
  play(stage, 1);
  await stage.start(rayOperator);
  const storage = "redisAddress: redis:6379\n    externalStorageNamespace: ours";
  await stage.apply(DURABLE.replace("redisAddress: redis:6379", storage));
  await ready(stage);
  await isDeleted(stage);
  await isToldOf(stage, /keys of ours may be left in Redis: job durable-redis-cleanup failed/);
};

/** A Redis that does not answer does not hold the cluster forever. */
export const redisHangs: Scenario = async (stage) => {
  play(stage, "hangs");
  await stage.start(rayOperator);
  const timeout = '  name: durable\n  annotations:\n    ray.io/gcs-ft-deletion-timeout: "120"\n';
  await stage.apply(DURABLE.replace("  name: durable\n", timeout));
  await ready(stage);
  await isDeleted(stage);
  await isToldOf(stage, /may be left in Redis: the deletion took too long/);
};

/** The way of older manifests: an annotation, and the address in the head's container. */
export const annotated: Scenario = async (stage) => {
  play(stage, 0);
  await stage.start(rayOperator);
  const older = DURABLE.replace("  name: durable\n", '  name: durable\n  annotations:\n    ray.io/ft-enabled: "true"\n')
    .replace(/ {2}gcsFaultToleranceOptions:[\s\S]*?(?= {2}headGroupSpec)/, "")
    .replace(
      "- name: ray-head\n",
      "- name: ray-head\n            env: [{ name: RAY_REDIS_ADDRESS, value: 'redis:6379' }]\n",
    );
  await assert.rejects(
    stage.apply(older.replace('"true"', '"false"')),
    /spec\.gcsFaultToleranceOptions: Required value/,
  );
  await stage.apply(older);
  await ready(stage);
  const head = await stage.get(Pod, "durable-head-0");
  assert.ok(variablesOf(head).get("RAY_external_storage_namespace")?.value);
  await isDeleted(stage);
};

/** Redis is configured in one place. */
export const badRedis: Scenario = async (stage) => {
  await stage.start(rayOperator);
  const refused = (change: (text: string) => string, message: RegExp) =>
    assert.rejects(stage.apply(change(DURABLE)), message);
  await refused(
    (text) => text.replace("    redisAddress: redis:6379\n", ""),
    /gcsFaultToleranceOptions\.redisAddress: Required value/,
  );
  await refused(
    (text) => text.replace('num-cpus: "0"', "redis-password: secret"),
    /rayStartParams\[redis-password\]: Forbidden: set spec\.gcsFaultToleranceOptions\.redisPassword instead/,
  );
  await refused(
    (text) => text.replace("- name: ray-head\n", "- name: ray-head\n            env: [{ name: REDIS_PASSWORD }]\n"),
    /env\[0\]\.name: Invalid value: "REDIS_PASSWORD"/,
  );
  await refused(
    (text) => text.replace("redisAddress:", "backend: rocksdb\n    redisAddress:"),
    /backend: Unsupported value/,
  );
};
