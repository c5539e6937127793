import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { isNotFound } from "@konverge/core";
import { Event, Pod } from "@konverge/kinds";
import { RayCluster } from "@konverge/ray-operator";
import { ray } from "./images/ray.ts";
import { redis } from "./images/redis.ts";
import { NodeCluster } from "./node-cluster.ts";
import { rayTemplate, untilReady } from "./ray-clusters.ts";
import { IN_REDIS, Redis } from "./redis.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { timed, until } from "./waiting.ts";

const NAMESPACE = "science";
const KEY = `${NAMESPACE}/durable`;
const COUNT = readFileSync(new URL("programs/count.py", import.meta.url), "utf8");
/** A key that is not the cluster's. */
const FOREIGN = "RAYother@KV";

/** A head of Ray that keeps its state in Redis, and an actor that outlives it. */
describe("ray with redis on real nodes", { skip: whyNoRealNodes() }, () => {
  let cluster: NodeCluster;
  let store: Redis;
  let counted: Awaited<ReturnType<typeof count>>;

  before(async () => {
    cluster = await NodeCluster.start({ name: "lane-ray-redis", images: [ray, redis] });
    for (const name of [NAMESPACE, "operators"]) await cluster.restrictedNamespace(name);
    cluster.deploy("ray-operator", "operators");
    store = await Redis.start(cluster.client, NAMESPACE);
  });
  after(async () => await cluster?.stop());

  const head = async () => {
    const { status } = await cluster.client.get(RayCluster, KEY);
    return status!.head!.podName!;
  };
  const workers = async () => {
    const labelSelector = "ray.io/cluster=durable,ray.io/node-type=worker";
    const { items } = await cluster.client.list(Pod, { namespace: NAMESPACE, labelSelector });
    return items.map(({ metadata, status }) => ({
      uid: metadata.uid,
      restarts: status?.containerStatuses?.map(({ restartCount }) => restartCount),
    }));
  };
  /** Lets the actor count, and says which process did it. */
  const count = async () => {
    const run = await cluster.client.exec(`${NAMESPACE}/${await head()}`, ["python3", "-c", COUNT]);
    const { stdout, stderr } = await run.output();
    const [, counts, host, process] = /^count (\d+) (\S+) (\d+)$/m.exec(stdout) ?? [];
    assert.ok(counts, stderr);
    return { count: Number(counts), host, process };
  };
  const isReady = (seconds: number) => untilReady(cluster.client, KEY, seconds);
  /** The actor counts on in its process, and no worker has restarted. */
  const continuesAfter = async (loss: () => Promise<unknown>) => {
    const before = await workers();
    const seconds = await timed(async () => {
      await loss();
      counted = await until("the actor counts on", 300, async () => {
        const now = await count();
        assert.deepEqual(now, { ...counted, count: counted.count + 1 });
        return now;
      });
    });
    await isReady(180);
    assert.deepEqual(await workers(), before);
    return seconds;
  };

  test("a head and two workers start; an actor counts, and the state is in Redis", async (t) => {
    const create = async () => {
      await cluster.client.create(RayCluster, {
        metadata: { name: "durable", namespace: NAMESPACE },
        // As a user writes it: fields with defaults are left to the server.
        spec: {
          ...IN_REDIS,
          headGroupSpec: { rayStartParams: { "num-cpus": "0" }, template: rayTemplate("ray-head") },
          workerGroupSpecs: [{ groupName: "small", replicas: 2, template: rayTemplate("ray-worker") }],
        } as unknown as RayCluster["spec"],
      });
      await isReady(300);
    };
    t.diagnostic(`ready after ${await timed(create)} s`);
    counted = await count();
    assert.equal(counted.count, 1);
    const { metadata } = await cluster.client.get(RayCluster, KEY);
    const own = (await store.keys()).filter((key) => key.includes(metadata.uid!));
    t.diagnostic(`${own.length} keys in Redis`);
    assert.ok(own.length > 0, `keys of ${metadata.uid}: ${await store.keys()}`);
  });

  test("an actor and the workers outlive a head that is killed", async (t) => {
    const kill = async () => await cluster.restartContainer(`${NAMESPACE}/${await head()}`, "ray-head");
    t.diagnostic(`the actor counts on after ${await continuesAfter(kill)} s`);
  });

  test("an actor and the workers outlive a head whose pod is deleted", async (t) => {
    const replace = async () => {
      const name = await head();
      const { metadata } = await cluster.client.get(Pod, `${NAMESPACE}/${name}`);
      await cluster.client.delete(Pod, `${NAMESPACE}/${name}`);
      await until("there is another head", 120, async () =>
        (await cluster.client.get(Pod, `${NAMESPACE}/${await head()}`)).metadata.uid !== metadata.uid
          ? true
          : undefined,
      );
    };
    t.diagnostic(`the actor counts on after ${await continuesAfter(replace)} s`);
  });

  test("a deleted cluster goes with its keys, and with no others", async (t) => {
    await store.run("set", FOREIGN, "1");
    const remove = async () => {
      await cluster.client.delete(RayCluster, KEY);
      await until("the cluster is gone", 300, () =>
        cluster.client.get(RayCluster, KEY).then(
          () => undefined,
          (error: unknown) => (isNotFound(error) ? true : undefined),
        ),
      );
    };
    t.diagnostic(`gone after ${await timed(remove)} s`);
    assert.deepEqual(await store.keys(), [FOREIGN]);
    const { items } = await cluster.client.list(Event, { namespace: NAMESPACE });
    assert.deepEqual(
      items.map(({ reason }) => reason).filter((reason) => reason === "RedisCleanupFailed"),
      [],
    );
  });
});
