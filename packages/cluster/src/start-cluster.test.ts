import assert from "node:assert/strict";
import { test } from "node:test";
import type { Journal } from "@konverge/apiserver";
import { startCluster } from "@konverge/cluster";
import { VirtualClock } from "@konverge/core";
import { ConfigMap, Pod } from "@konverge/kinds";

const first = {
  metadata: { name: "first", namespace: "default" },
  spec: { containers: [{ name: "a", image: "app" }] },
};

for (const [time, clock] of [
  ["real", () => undefined],
  ["virtual", () => new VirtualClock()],
] as const) {
  test(`the first thing that a user does may be to create a pod: ${time} time`, async () => {
    const own = clock();
    const cluster = await startCluster(own ? { clock: own } : {});
    try {
      const pod = await cluster.client.create(Pod, first as never);
      assert.equal(pod.spec?.serviceAccountName, "default");
      const { metadata } = await cluster.client.get(ConfigMap, "default/kube-root-ca.crt");
      assert.match(metadata.managedFields?.[0]?.manager ?? "", /^kube-controller-manager$/);
    } finally {
      const stopped = cluster.stop();
      await own?.advance(10_000);
      await stopped;
    }
  });
}

test("a cluster that takes up an earlier state has its account and certificate once", async () => {
  await using earlier = await startCluster();
  await using later = await startCluster({ server: { state: earlier.snapshot() } });
  const { items } = await later.client.list(ConfigMap, { namespace: "default" });
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ["kube-root-ca.crt"],
  );
  await later.client.create(Pod, first as never);
});

test("requests from outside wait as long as they are delayed, those of this process do not", async () => {
  const clock = new VirtualClock();
  const cluster = await startCluster({ clock });
  try {
    cluster.faults.requestDelay = 200;
    let answered: number | undefined;
    const request = { method: "GET", path: "/version", headers: {} };
    const outside = cluster.guard.handle(request as never, { address: "127.0.0.1" }).then(({ status }) => {
      answered = clock.monotonic();
      return status;
    });
    const started = clock.monotonic();
    await clock.advance(199);
    assert.equal(answered, undefined);
    await clock.advance(1);
    assert.equal(await outside, 200);
    assert.equal(answered, started + 200);
    cluster.faults.requestDelay = 0;
    assert.equal((await cluster.guard.handle(request as never, { address: "127.0.0.1" })).status, 200);
    assert.equal(clock.monotonic(), answered);
  } finally {
    const stopped = cluster.stop();
    await clock.advance(10_000);
    await stopped;
  }
});

test("a cluster does not start with a journal that cannot keep what every cluster begins with", async () => {
  let isClosed = false;
  const journal: Journal = {
    load: () => undefined,
    append: () => {
      throw new Error("database or disk is full");
    },
    compact: () => {},
    replace: () => {},
    close: () => {
      isClosed = true;
    },
  };
  await assert.rejects(startCluster({ server: { journal } }), /Internal error occurred: database or disk is full/);
  assert.ok(isClosed);
});
