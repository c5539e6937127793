import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { ConfigMap, Pod } from "@konverge/kinds";
import { RayCluster, RayService } from "@konverge/ray-operator";
import { ray } from "./images/ray.ts";
import { redis } from "./images/redis.ts";
import { NodeCluster } from "./node-cluster.ts";
import { restrictedPod } from "./pods.ts";
import { rayTemplate } from "./ray-clusters.ts";
import { IN_REDIS, Redis } from "./redis.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { now, timed, until } from "./waiting.ts";

const NAMESPACE = "words";
const KEY = `${NAMESPACE}/greeting`;
/** Milliseconds until nodes send no more requests to a pod that is not ready. */
const NOTICED = 10_000;
const program = (name: string) => readFileSync(new URL(`programs/${name}.py`, import.meta.url), "utf8");

/** An application of Ray Serve on two workers, whose head stores its state in Redis, and a client that asks it 20 times per second through its Service. */
describe("ray serve on real nodes", { skip: whyNoRealNodes() }, () => {
  let cluster: NodeCluster;
  let store: Redis;

  before(async () => {
    cluster = await NodeCluster.start({ name: "lane-ray-serve", images: [ray, redis] });
    for (const name of [NAMESPACE, "operators"]) await cluster.restrictedNamespace(name);
    cluster.deploy("ray-operator", "operators");
    store = await Redis.start(cluster.client, NAMESPACE);
    const data = { "greeting.py": program("greeting") };
    await cluster.client.create(ConfigMap, { metadata: { name: "applications", namespace: NAMESPACE }, data });
  });
  after(async () => await cluster?.stop());

  const serveConfigV2 = (word: string) =>
    JSON.stringify({
      applications: [
        {
          ...{ name: "greeting", import_path: "greeting:app", route_prefix: "/" },
          deployments: [{ name: "Greeting", user_config: { word } }],
        },
      ],
    });
  const rayClusterConfig = (edition: string) => {
    const variables = { EDITION: edition, PYTHONPATH: "/applications" };
    const template = (name: Parameters<typeof rayTemplate>[0]) => {
      const volumeMounts = [{ name: "applications", mountPath: "/applications" }];
      const env = Object.entries(variables).map(([variable, value]) => ({ name: variable, value }));
      const { spec } = rayTemplate(name, { env, volumeMounts });
      return { spec: { ...spec, volumes: [{ name: "applications", configMap: { name: "applications" } }] } };
    };
    return {
      ...IN_REDIS,
      headGroupSpec: { rayStartParams: { "num-cpus": "0" }, template: template("ray-head") },
      workerGroupSpecs: [{ groupName: "small", replicas: 2, template: template("ray-worker") }],
    };
  };
  /** Waits until requests get what the spec says from two workers and the head, and returns the name of their cluster. */
  const serves = (seconds: number) =>
    until("it serves", seconds, async () => {
      const { metadata, status } = await cluster.client.get(RayService, KEY);
      const is = (type: string, value: string) =>
        status?.conditions?.some(
          (one) => one.type === type && one.status === value && one.observedGeneration === metadata.generation,
        );
      if (is("Ready", "True") && is("Progressing", "False") && status?.numServeEndpoints === 3)
        return status.activeServiceStatus!.rayClusterName!;
      throw new Error(JSON.stringify(status));
    });
  const clusters = async () =>
    (await cluster.client.list(RayCluster, { namespace: NAMESPACE })).items.map(({ metadata }) => metadata.name);
  const podsOf = async (name: string) => {
    const labelSelector = `ray.io/cluster=${name}`;
    const { items } = await cluster.client.list(Pod, { namespace: NAMESPACE, labelSelector });
    return items.map(({ metadata }) => metadata.uid).sort();
  };
  const outcomes = async () => {
    const lines = await cluster.log(`${NAMESPACE}/client`);
    const answered = lines.filter((line) => line.startsWith("answered "));
    return { answered, failed: lines.filter((line) => line.startsWith("failed")) };
  };
  /** Waits until more requests are answered, and all of them with these words. */
  const isAnswered = async (more: number, words: string) => {
    const from = (await outcomes().catch(() => ({ answered: [] }))).answered.length;
    await until(`${more} more requests are answered with "${words}"`, 120, async () => {
      const answered = (await outcomes()).answered.slice(from);
      const others = answered.slice(-more).filter((line) => !line.startsWith(`answered ${words} `));
      assert.deepEqual(others, []);
      return answered.length >= more ? true : undefined;
    });
  };

  test("an application is deployed to two workers, and requests through the Service are answered", async (t) => {
    const create = async () => {
      await cluster.client.create(RayService, {
        metadata: { name: "greeting", namespace: NAMESPACE },
        // As a user writes it: fields with defaults are left to the server.
        spec: {
          serveConfigV2: serveConfigV2("hello"),
          rayClusterConfig: rayClusterConfig("first"),
        } as unknown as RayService["spec"],
      });
      await serves(400);
    };
    t.diagnostic(`serves after ${await timed(create)} s`);
    await cluster.client.create(Pod, {
      metadata: { name: "client", namespace: NAMESPACE },
      spec: restrictedPod({
        name: "client",
        image: "rayproject/ray:2.60.0",
        command: ["python3", "-c", program("predict")],
        env: [
          { name: "URL", value: `http://greeting-serve-svc.${NAMESPACE}.svc:8000/` },
          { name: "BODY", value: "{}" },
        ],
      }),
    });
    await isAnswered(200, "hello first");
    const { answered, failed } = await outcomes();
    assert.equal(new Set(answered.map((line) => line.split(" ").at(-1))).size, 2, "both workers answer");
    assert.deepEqual(failed, []);
  });

  test("a changed configuration is deployed in place, and no request is lost", async (t) => {
    const name = await serves(10);
    const pods = await podsOf(name);
    const change = async () => {
      await cluster.client.patch(RayService, KEY, { merge: { spec: { serveConfigV2: serveConfigV2("welcome") } } });
      await isAnswered(100, "welcome first");
    };
    t.diagnostic(`answered with the new word after ${await timed(change)} s`);
    assert.equal(await serves(60), name);
    assert.deepEqual(await podsOf(name), pods);
    assert.deepEqual((await outcomes()).failed, []);
  });

  test("another cluster takes the place of the first one, and no request is lost", async (t) => {
    const old = await serves(10);
    const before = (await outcomes()).answered.length;
    const upgrade = async () => {
      const spec = { rayClusterConfig: rayClusterConfig("second") } as unknown as RayService["spec"];
      await cluster.client.patch(RayService, KEY, { merge: { spec } });
      await until("requests are answered by the other cluster", 400, async () =>
        (await outcomes()).answered.at(-1)?.startsWith("answered welcome second ") ? true : undefined,
      );
    };
    t.diagnostic(`the other one answers after ${await timed(upgrade)} s`);
    const untilDeleted = async () =>
      await until("the first one is gone", 200, async () =>
        (await clusters()).includes(old) || (await podsOf(old)).length > 0 ? undefined : true,
      );
    t.diagnostic(`the first one is gone ${await timed(untilDeleted)} s later`);
    assert.deepEqual([await serves(60)], await clusters());
    await isAnswered(100, "welcome second");
    const { metadata } = await cluster.client.get(RayCluster, `${NAMESPACE}/${await serves(10)}`);
    const foreign = (await store.keys()).filter((key) => !key.includes(metadata.uid!));
    assert.deepEqual(foreign, [], "the keys of the first one are gone");
    const { answered, failed } = await outcomes();
    t.diagnostic(`${answered.length - before} requests answered, ${failed.length} lost`);
    assert.deepEqual(failed, []);
  });

  test("the workers serve while a head that is killed starts again", async (t) => {
    const name = await serves(10);
    const before = await outcomes();
    const killed = now();
    const recover = async () => {
      await cluster.restartContainer(`${NAMESPACE}/${name}-head-0`, "ray-head");
      await serves(300);
    };
    t.diagnostic(`the head serves again after ${await timed(recover)} s`);
    const { answered, failed } = await outcomes();
    t.diagnostic(`${answered.length - before.answered.length} requests answered, ${failed.length} lost`);
    // Those that the head had, and those that were sent to it until all nodes knew.
    const later = failed.filter((line) => Number(line.split(" ")[1]) * 1000 > killed + NOTICED);
    assert.deepEqual(later, []);
  });
});
