import assert from "node:assert/strict";
import { test } from "node:test";
import type { KindRef, KubeObject } from "@konverge/core";
import {
  ConfigMap,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  type PodSpec,
  Secret,
  ServiceAccount,
  StorageClass,
} from "@konverge/kinds";
import { node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

/** A step of a story: something comes, or goes. */
type Step = (stage: VirtualNodes) => Promise<unknown>;

const create =
  (kind: KindRef<KubeObject>, object: object): Step =>
  ({ cluster, wait }) =>
    wait(cluster.client.create(kind, object as never));
const remove =
  (kind: KindRef<KubeObject>, key: string): Step =>
  ({ cluster, wait }) =>
    wait(cluster.client.delete(kind, key));

const named = (name: string) => ({ name, namespace: "default" });

const claim = (name: string, storageClassName: string): Step =>
  create(PersistentVolumeClaim, {
    metadata: named(name),
    spec: { storageClassName, accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
const storageClass = (name: string, volumeBindingMode: string): Step =>
  create(StorageClass, { metadata: { name }, provisioner: "simulated.konverge.dev", volumeBindingMode });
const config = (name: string): Step => create(ConfigMap, { metadata: named(name), data: { mode: "fast" } });
const machine = (name: string): Step => create(Node, { metadata: { name, labels: { kind: name } } });

/** A pod that needs all of what bears its name. */
const needy =
  (name: string): Step =>
  (stage) =>
    stage.pod(name, {
      nodeSelector: { kind: name },
      containers: [
        {
          name: "main",
          image: "app",
          env: [{ name: "WORD", valueFrom: { secretKeyRef: { name, key: "word" } } }],
          volumeMounts: [
            { name: "data", mountPath: "/data" },
            { name: "settings", mountPath: "/settings" },
          ],
        },
      ],
      volumes: [
        { name: "data", persistentVolumeClaim: { claimName: name } },
        { name: "settings", configMap: { name } },
      ],
    });

function* orders<T>(all: readonly T[]): Iterable<T[]> {
  if (all.length === 0) yield [];
  for (const [index, first] of all.entries())
    for (const rest of orders(all.toSpliced(index, 1))) yield [first, ...rest];
}

async function runs(stage: VirtualNodes, name: string, why: string): Promise<void> {
  const { spec, status } = await stage.get(name);
  assert.equal(status?.phase, "Running", `${why}: on ${spec?.nodeName}, ${JSON.stringify(status)}`);
}

for (const mode of ["Immediate", "WaitForFirstConsumer"]) {
  const needs: Record<string, (name: string) => Step> = {
    pod: needy,
    claim: (name) => claim(name, name),
    class: (name) => storageClass(name, mode),
    config,
    secret: (name) => create(Secret, { metadata: named(name), stringData: { word: "open" } }),
    node: machine,
  };
  test(`what a pod needs may come in any order, at once or later: ${mode}`, () =>
    onNodes([node("other")], async (stage) => {
      // Every order of what the scheduler waits for, with what the node waits for before, between and after.
      const all = [...orders(["pod", "claim", "class", "node"])].map((order, index) =>
        order.toSpliced(index % 5, 0, "secret").toSpliced((index * 7) % 6, 0, "config"),
      );
      for (let step = 0; step < 6; step++) {
        for (const [index, order] of all.entries()) await needs[order[step]!]!(`needy-${index}`)(stage);
        await stage.pass(step % 2 === 0 ? 0 : 2_000);
      }
      await stage.pass(30_000);
      for (const [index, order] of all.entries()) await runs(stage, `needy-${index}`, order.join());
    }));
}

test("a claim that is deleted during provisioning and recreated does not block its pod", () =>
  onNodes([node("one")], async (stage) => {
    // There is no provisioner for this class.
    await create(StorageClass, {
      metadata: { name: "slow" },
      provisioner: "driver.example.com",
      volumeBindingMode: "WaitForFirstConsumer",
    })(stage);
    await claim("data", "slow")(stage);
    await stage.pod("web", { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] });
    await stage.pass(5_000);
    const { client } = stage.cluster;
    const chosen = await stage.wait(client.get(PersistentVolumeClaim, "default/data"));
    assert.equal(chosen.metadata.annotations?.["volume.kubernetes.io/selected-node"], "one");
    await remove(PersistentVolumeClaim, "default/data")(stage);
    await stage.pass(1_000);
    await storageClass("late", "WaitForFirstConsumer")(stage);
    await claim("data", "late")(stage);
    await stage.pass(30_000);
    await runs(stage, "web", "after the second claim");
  }));

test("a class that goes and comes back while a claim waits makes its volume after all", () =>
  onNodes([node("one")], async (stage) => {
    await storageClass("late", "WaitForFirstConsumer")(stage);
    await claim("data", "late")(stage);
    await stage.pass(1_000);
    await remove(StorageClass, "late")(stage);
    await stage.pod("web", { volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] });
    await stage.pass(5_000);
    await storageClass("late", "Immediate")(stage);
    await stage.pass(30_000);
    await runs(stage, "web", "after the class came back");
  }));

test("a pod that names its node waits for its claim there, and says so", () =>
  onNodes([node("one")], async (stage) => {
    await stage.pod("web", {
      nodeName: "one",
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
    });
    await stage.pass(5_000);
    assert.equal((await stage.get("web")).status?.phase, "Pending");
    const why =
      'FailedMount Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC default/data: failed to fetch PVC from API server: persistentvolumeclaims "data" not found';
    assert.ok((await stage.events("web")).includes(why), (await stage.events("web")).join("\n"));
    await claim("data", "standard")(stage);
    await stage.pass(30_000);
    await runs(stage, "web", "after the claim");
    assert.equal((await stage.wait(stage.cluster.client.list(PersistentVolume))).items.length, 1);
  }));

test("a pod whose account was deleted before it started waits for it", () =>
  onNodes([node("one")], async (stage) => {
    await create(ServiceAccount, { metadata: named("worker") })(stage);
    await stage.pod("web", { serviceAccountName: "worker", nodeSelector: { kind: "late" } });
    await stage.pass(1_000);
    await remove(ServiceAccount, "default/worker")(stage);
    await machine("late")(stage);
    await stage.pass(5_000);
    assert.equal((await stage.get("web")).status?.phase, "Pending");
    assert.ok((await stage.events("web")).some((text) => text.includes('serviceaccounts "worker" not found')));
    await create(ServiceAccount, { metadata: named("worker") })(stage);
    await stage.pass(30_000);
    await runs(stage, "web", "after the account came back");
  }));

test("a running pod continues and completes after the sources of its volumes are deleted", () =>
  onNodes([node("one")], async (stage) => {
    await config("settings")(stage);
    const spec: Partial<PodSpec> = {
      restartPolicy: "Never",
      containers: [{ name: "main", image: "busybox", command: ["sleep", "20"] }],
      volumes: [{ name: "settings", configMap: { name: "settings" } }],
    };
    await stage.pod("task", spec);
    await stage.pass(5_000);
    await remove(ConfigMap, "default/settings")(stage);
    await stage.pass(60_000);
    assert.equal((await stage.get("task")).status?.phase, "Succeeded");
  }));

test("many pods whose needs come at the same instant all run", () =>
  onNodes([node("one"), node("two")], async (stage) => {
    const { client } = stage.cluster;
    const numbers = Array.from({ length: 15 }, (_, index) => index);
    for (const i of numbers) {
      await stage.pod(`web-${i}`, {
        volumes: [
          { name: "data", persistentVolumeClaim: { claimName: `data-${i}` } },
          { name: "settings", configMap: { name: `settings-${i % 5}` } },
        ],
      });
    }
    await stage.pass(3_000);
    const all = numbers.map((i) => claim(`data-${i}`, "standard")(stage));
    const configs = [0, 1, 2, 3, 4].map((i) =>
      stage.wait(client.create(ConfigMap, { metadata: named(`settings-${i}`), data: {} })),
    );
    await Promise.all([...all, ...configs]);
    await stage.pass(60_000);
    const { items } = await stage.wait(client.list(Pod, { namespace: "default" }));
    const waiting = items.filter(({ status }) => status?.phase !== "Running");
    assert.deepEqual(
      waiting.map(({ metadata }) => metadata.name),
      [],
    );
  }));

test("a pod that asks for something else is tried again with that", () =>
  onNodes([node("tainted", { taints: [{ key: "gpu", effect: "NoSchedule" }] })], async (stage) => {
    await stage.pod("web");
    await stage.pass(20_000);
    const tolerations = [{ key: "gpu", operator: "Exists", effect: "NoSchedule" }];
    const { client } = stage.cluster;
    const { spec } = await stage.get("web");
    const all = [...(spec?.tolerations ?? []), ...tolerations];
    await stage.wait(client.patch(Pod, "default/web", { merge: { spec: { tolerations: all } } } as never));
    await stage.pass(30_000);
    await runs(stage, "web", "after the toleration");
  }));
