import assert from "node:assert/strict";
import { test } from "node:test";
import { type Cluster, type ClusterOptions, NotSettledError, startCluster } from "@konverge/cluster";
import { type Clock, sleep, VirtualClock } from "@konverge/core";
import { ConfigMap, Deployment, Pod } from "@konverge/kinds";
import { controller, run, silentLog } from "@konverge/runtime";
import { during } from "../behavior/stages.ts";

const HOUR = 3_600_000;

function deployment(name: string, replicas: number, more: object = {}) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "app" }] } };
  return {
    metadata: { name, namespace: "default" },
    spec: { replicas, selector: { matchLabels: labels }, template, ...more },
  };
}

async function onVirtual(
  play: (cluster: Cluster, clock: VirtualClock, wait: <T>(promise: Promise<T>) => Promise<T>) => Promise<void>,
  options: ClusterOptions = {},
): Promise<void> {
  const clock = new VirtualClock();
  const wait = <T>(promise: Promise<T>) => during(clock, promise);
  const cluster = await wait(startCluster({ ...options, clock }));
  try {
    await play(cluster, clock, wait);
  } finally {
    await wait(cluster.stop());
  }
}

test("a cluster is idle when a rollout is complete, including minReadySeconds", () =>
  onVirtual(async ({ client, settled }, _clock, wait) => {
    await wait(client.create(Deployment, deployment("web", 3, { minReadySeconds: 60 })));
    await settled();
    const { status } = await wait(client.get(Deployment, "default/web"));
    assert.equal(status?.availableReplicas, 3);
    const { items } = await wait(client.list(Pod, { namespace: "default" }));
    assert.deepEqual(
      items.map(({ status }) => status?.phase),
      ["Running", "Running", "Running"],
    );
  }));

test("an empty cluster is idle, and so is one with unschedulable pods", () =>
  onVirtual(async ({ client, settled }, _clock, wait) => {
    await settled();
    const resources = { requests: { cpu: "1000" } };
    const containers = [{ name: "main", image: "app", resources }];
    await wait(client.create(Pod, { metadata: { name: "huge", namespace: "default" }, spec: { containers } }));
    await settled();
    assert.equal((await wait(client.get(Pod, "default/huge"))).status?.phase, "Pending");
  }));

test("a pod that crashes again and again is named", () =>
  onVirtual(async ({ client, settled }, _clock, wait) => {
    const annotations = { "sim.konverge.dev/crash-after": "1s" };
    const metadata = { name: "crashing", namespace: "default", annotations };
    await wait(client.create(Pod, { metadata, spec: { containers: [{ name: "main", image: "app" }] } }));
    await assert.rejects(settled(), (error: unknown) => {
      assert.ok(error instanceof NotSettledError);
      assert.match(error.message, /is not idle after 3600 s/);
      assert.ok(
        error.reasons.some((reason) => reason.startsWith("kubelet: default/crashing (in ")),
        error.message,
      );
      return true;
    });
  }));

test("a client that writes without end is named, although no time passes", () =>
  onVirtual(async ({ client, clock, settled }, _clock, wait) => {
    await wait(client.create(ConfigMap, { metadata: { name: "counter", namespace: "default" } }));
    let stopped = false;
    const writing = (async () => {
      for (let count = 0; !stopped; count++) {
        await client.patch(ConfigMap, "default/counter", { merge: { data: { count: String(count) } } });
        await sleep(clock, 0);
      }
    })();
    try {
      await assert.rejects(settled(), (error: unknown) => {
        assert.ok(error instanceof NotSettledError);
        assert.match(error.message, /while the clock stands still/);
        assert.match(
          error.reasons[0] ?? "",
          /^\/configmaps default\/counter was written \d+ times, last by kubernetes-admin/,
        );
        return true;
      });
    } finally {
      stopped = true;
      await wait(writing);
    }
  }));

test("an operator that writes without end is named as a hot loop", () =>
  onVirtual(async ({ client, clock, settled }, _clock, wait) => {
    const restless = controller(ConfigMap, {
      name: "restless",
      when: ({ object: { metadata } }) => metadata.name === "counter",
      async reconcile(counter, context) {
        const next = String(Number(counter.data?.["count"] ?? 0) + 1);
        await context.client.patch(ConfigMap, "default/counter", { merge: { data: { count: next } } });
      },
    });
    const manager = await wait(run(restless, { client, clock, log: silentLog }));
    await wait(client.create(ConfigMap, { metadata: { name: "counter", namespace: "default" } }));
    await assert.rejects(settled(), (error: unknown) => {
      assert.ok(error instanceof NotSettledError);
      assert.match(error.reasons[0] ?? "", /^restless: default\/counter is in a hot loop/);
      return true;
    });
    await wait(manager.stop());
  }));

test("an operator that retries a failing reconcile is named, one with a periodic requeue is not", () =>
  onVirtual(async ({ client, clock, settled }, _clock, wait) => {
    let fails = true;
    const flaky = controller(ConfigMap, {
      name: "flaky",
      when: ({ object: { metadata } }) => metadata.name === "wish",
      reconcile() {
        if (fails) throw new Error("no luck");
        return { requeueAfter: 30_000 };
      },
    });
    const manager = await wait(run(flaky, { client, clock, log: silentLog }));
    await wait(client.create(ConfigMap, { metadata: { name: "wish", namespace: "default" } }));
    await assert.rejects(settled({ timeout: HOUR }), /flaky: retry/);
    fails = false;
    await settled();
    await wait(manager.stop());
  }));

test("a watcher with undelivered events keeps a cluster from being idle", () =>
  onVirtual(async ({ client, server, settled }, _clock, wait) => {
    const { body } = await server.transport({ method: "GET", path: "/api/v1/configmaps?watch=1", headers: {} });
    assert.ok(typeof body === "object" && Symbol.asyncIterator in body);
    const events = body[Symbol.asyncIterator]();
    const first = events.next();
    await wait(client.create(ConfigMap, { metadata: { name: "a", namespace: "default" } }));
    await first;
    await wait(client.create(ConfigMap, { metadata: { name: "b", namespace: "default" } }));
    await assert.rejects(settled({ timeout: 60_000 }), /has not taken all that the watch of \/api\/v1\/configmaps has/);
    await events.return?.();
    await settled();
  }));

test("in real time a cluster becomes idle as well", async () => {
  await using cluster = await startCluster();
  await cluster.client.create(Deployment, deployment("web", 2));
  await cluster.settled({ idlePeriod: 200 });
  assert.equal((await cluster.client.get(Deployment, "default/web")).status?.readyReplicas, 2);
});

test("in real time, too, timers that are waited for are named", async () => {
  await using cluster = await startCluster();
  await cluster.settled({ idlePeriod: 50 });
  const waiting = new AbortController();
  const { clock }: { clock: Clock } = cluster;
  const late = sleep(clock, HOUR, { label: "a slow caller", signal: waiting.signal }).catch(() => {});
  try {
    await assert.rejects(cluster.settled({ idlePeriod: 20, timeout: 2_000 }), /a slow caller \(in 3\d\d\d(\.\d)? s\)/);
  } finally {
    waiting.abort();
    await late;
  }
});

test("a fork has the state, the time and the images of a cluster, and its own life", () =>
  onVirtual(async (cluster, clock, wait) => {
    cluster.image("odd", { startDelay: 5_000 });
    await wait(cluster.client.create(Deployment, deployment("web", 2)));
    await cluster.settled();
    const fork = await cluster.fork();
    const forked = fork.clock as VirtualClock;
    assert.equal(forked.now(), clock.now());
    const before = (await wait(cluster.client.list(Pod))).items.map(({ metadata }) => metadata.uid);
    await during(forked, fork.client.patch(Deployment, "default/web", { merge: { spec: { replicas: 5 } } }));
    await fork.settled();
    const after = (await during(forked, fork.client.list(Pod))).items;
    assert.equal(after.length, 5);
    assert.ok(before.every((uid) => after.some(({ metadata }) => metadata.uid === uid)));
    assert.ok(after.every(({ status }) => status?.phase === "Running"));
    await cluster.settled();
    assert.deepEqual(
      (await wait(cluster.client.list(Pod))).items.map(({ metadata }) => metadata.uid),
      before,
    );
    await during(forked, fork.stop());
  }));

test("a cluster that goes back has what it had, and goes on from there", () =>
  onVirtual(async (cluster, _clock, wait) => {
    const { client } = cluster;
    await wait(client.create(Deployment, deployment("web", 2)));
    await wait(client.create(ConfigMap, { metadata: { name: "kept", namespace: "default" }, data: { a: "1" } }));
    await cluster.settled();
    const earlier = cluster.snapshot();
    const kept = await wait(client.get(ConfigMap, "default/kept"));
    await wait(client.delete(ConfigMap, "default/kept"));
    await wait(client.patch(Deployment, "default/web", { merge: { spec: { replicas: 4 } } }));
    await wait(client.create(Deployment, deployment("new", 1)));
    await cluster.settled();
    cluster.restore(earlier);
    const back = await wait(client.get(ConfigMap, "default/kept"));
    assert.equal(back.metadata.uid, kept.metadata.uid);
    assert.notEqual(back.metadata.resourceVersion, kept.metadata.resourceVersion);
    await cluster.settled();
    const pods = (await wait(client.list(Pod, { namespace: "default" }))).items;
    assert.deepEqual(
      pods.map(({ metadata, status }) => [metadata.labels?.["app"], status?.phase]),
      [
        ["web", "Running"],
        ["web", "Running"],
      ],
    );
    await wait(client.patch(Deployment, "default/web", { merge: { spec: { replicas: 3 } } }));
    await cluster.settled();
    assert.equal((await wait(client.get(Deployment, "default/web"))).status?.readyReplicas, 3);
  }));
