import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Pod } from "@konverge/kinds";
import { RayCluster } from "@konverge/ray-operator";
import { ray } from "./images/ray.ts";
import { NodeCluster } from "./node-cluster.ts";
import { rayTemplate, untilReady } from "./ray-clusters.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { timed, until } from "./waiting.ts";

const NAMESPACE = "science";
const KEY = `${NAMESPACE}/rays`;
const WHERE = readFileSync(new URL("programs/where.py", import.meta.url), "utf8");

/** Ray itself: a head and workers that join it, as the operator starts them. */
describe("ray on real nodes", { skip: whyNoRealNodes() }, () => {
  let cluster: NodeCluster;

  before(async () => {
    cluster = await NodeCluster.start({ name: "lane-ray", images: [ray] });
    for (const name of [NAMESPACE, "operators"]) await cluster.restrictedNamespace(name);
    cluster.deploy("ray-operator", "operators");
  });
  after(async () => await cluster?.stop());

  const isReady = (seconds: number) => untilReady(cluster.client, KEY, seconds);
  const pods = async () => (await cluster.client.list(Pod, { namespace: NAMESPACE })).items;
  const head = async () => {
    const { status } = await cluster.client.get(RayCluster, KEY);
    return `${NAMESPACE}/${status?.head?.podName}`;
  };
  /** The hosts on which a task has run, one for each node of the Ray cluster. */
  const hosts = async () => {
    const process = await cluster.client.exec(await head(), ["python3", "-c", WHERE]);
    const { stdout, stderr } = await process.output();
    const [, ran] = /^ran on (.*)$/m.exec(stdout) ?? [];
    assert.ok(ran, stderr);
    return ran.split(" ");
  };
  const runsOnAll = (seconds: number) =>
    until("a task runs on each pod", seconds, async () => {
      assert.deepEqual(await hosts(), (await pods()).map(({ metadata }) => metadata.name).sort());
      return true;
    });

  test("two workers on two nodes join the head, and each runs a task", async (t) => {
    const create = async () => {
      await cluster.client.create(RayCluster, {
        metadata: { name: "rays", namespace: NAMESPACE },
        // As a user writes it: fields with defaults are left to the server.
        spec: {
          headGroupSpec: { template: rayTemplate("ray-head") },
          workerGroupSpecs: [{ groupName: "small", replicas: 2, template: rayTemplate("ray-worker") }],
        } as unknown as RayCluster["spec"],
      });
      await isReady(300);
    };
    t.diagnostic(`ready after ${await timed(create)} s`);
    await runsOnAll(60);
    assert.equal(new Set((await pods()).map(({ spec }) => spec?.nodeName)).size, 2, "its pods run on both nodes");
  });

  test("a worker that is killed joins again", async (t) => {
    const rejoin = async () => {
      await cluster.restartContainer(`${NAMESPACE}/rays-small-worker-0`, "ray-worker");
      await runsOnAll(180);
    };
    t.diagnostic(`three nodes again after ${await timed(rejoin)} s`);
    await isReady(120);
  });

  test("the group grows and shrinks", async (t) => {
    const resize = async (replicas: number) => {
      const { spec } = await cluster.client.get(RayCluster, KEY);
      const [group] = spec.workerGroupSpecs!;
      const merge = { spec: { workerGroupSpecs: [{ ...group!, replicas }] } };
      await cluster.client.patch(RayCluster, KEY, { merge });
      await until(`${replicas} workers`, 120, async () => ((await pods()).length === replicas + 1 ? true : undefined));
      await runsOnAll(180);
    };
    t.diagnostic(`a third worker runs a task after ${await timed(() => resize(3))} s`);
    await resize(2);
  });

  test("a head that is killed starts again, and all workers join it", async (t) => {
    const recover = async () => {
      await cluster.restartContainer(await head(), "ray-head");
      await runsOnAll(400);
      await isReady(120);
    };
    t.diagnostic(`all run tasks again after ${await timed(recover)} s`);
  });

  test("a head whose pod is deleted is recreated, and all workers join it", async (t) => {
    const recover = async () => {
      const name = await head();
      const { metadata } = await cluster.client.get(Pod, name);
      await cluster.client.delete(Pod, name);
      await until("there is another head", 120, async () =>
        (await cluster.client.get(Pod, await head())).metadata.uid !== metadata.uid ? true : undefined,
      );
      await runsOnAll(400);
      await isReady(120);
    };
    t.diagnostic(`all run tasks again after ${await timed(recover)} s`);
  });
});
