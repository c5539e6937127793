import assert from "node:assert/strict";
import { test } from "node:test";
import { CustomResourceDefinition, Node, Pod, PodDisruptionBudget, PriorityClass } from "@konverge/kinds";
import { asking, conditionOf, node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

const message = async (stage: VirtualNodes, name: string) =>
  conditionOf(await stage.get(name), "PodScheduled")?.message;

test("a pod is given to a node that has room, and says so", () =>
  onNodes([node("small", {}, { memory: "1Gi" }), node("large")], async (stage) => {
    await stage.pod("web", asking({ memory: "2Gi" }));
    await stage.pass(1000);
    const pod = await stage.get("web");
    assert.equal(pod.spec?.nodeName, "large");
    assert.equal(conditionOf(pod, "PodScheduled")?.status, "True");
    assert.ok((await stage.events("web")).includes("Scheduled Successfully assigned default/web to large"));
  }));

test("a pod that fits nowhere says why, for every node", () =>
  onNodes(
    [
      node("full", {}, { memory: "1Gi" }),
      node("tainted", { taints: [{ key: "gpu", effect: "NoSchedule" }] }),
      node("other", { labels: { zone: "b" } }, { memory: "2Gi" }),
    ],
    async (stage) => {
      await stage.pod("web", asking({ memory: "4Gi" }));
      await stage.pass(1000);
      const why =
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient memory. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.";
      assert.equal(await message(stage, "web"), why);
      assert.ok((await stage.events("web")).includes(`FailedScheduling ${why}`));
      await stage.pod("picky", { nodeSelector: { zone: "c" } });
      await stage.pass(1000);
      assert.match(
        (await message(stage, "picky"))!,
        /^0\/3 nodes are available: 1 node\(s\) had untolerated taint\(s\), 2 node\(s\) didn't match Pod's node affinity\/selector\. /,
      );
    },
  ));

test("room that is taken by pods which matter as much is not made free", () =>
  onNodes([node("one", {}, { "nvidia.com/gpu": "1" })], async (stage) => {
    await stage.pod("first", {
      containers: [{ name: "main", image: "app", resources: { limits: { "nvidia.com/gpu": "1" } } }],
    });
    await stage.pod("second", {
      containers: [{ name: "main", image: "app", resources: { limits: { "nvidia.com/gpu": "1" } } }],
    });
    await stage.pass(1000);
    assert.equal((await stage.get("first")).spec?.nodeName, "one");
    assert.equal(
      await message(stage, "second"),
      "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
    );
    await stage.wait(stage.cluster.client.delete(Pod, "default/first"));
    await stage.pass(60_000);
    assert.equal((await stage.get("second")).spec?.nodeName, "one", "what waits is tried again when room comes free");
  }));

test("a pod that matters more makes others go, and takes their place", () =>
  onNodes([node("one"), node("two")], async (stage) => {
    const { client } = stage.cluster;
    await stage.wait(client.create(PriorityClass, { metadata: { name: "high" }, value: 1000 } as never));
    await stage.pod("kept", asking({ cpu: "3" }), { labels: { app: "kept" } });
    await stage.pod("loser", asking({ cpu: "3" }), { labels: { app: "loser" } });
    await stage.pass(1000);
    await stage.wait(
      client.create(PodDisruptionBudget, {
        metadata: { name: "kept", namespace: "default" },
        spec: { minAvailable: 1, selector: { matchLabels: { app: "kept" } } },
      }),
    );
    await stage.pass(1000);
    const place = (await stage.get("loser")).spec?.nodeName;
    await stage.pod("winner", { ...asking({ cpu: "3" }), priorityClassName: "high", priority: 1000 });
    await stage.pass(60_000);
    assert.equal((await stage.get("winner")).spec?.nodeName, place);
    await assert.rejects(stage.get("loser"), /not found/);
    assert.equal((await stage.get("kept")).metadata.deletionTimestamp, undefined, "its budget protects it");
    const events = await stage.events("loser");
    assert.ok(
      events.some((line) => line.startsWith("Preempted Preempted by pod ")),
      events.join("\n"),
    );
  }));

test("pods keep away from each other, and near each other, as they ask", () =>
  onNodes(
    ["a", "b"].map((name) => node(name, { labels: { "kubernetes.io/hostname": name } })),
    async (stage) => {
      const term = { labelSelector: { matchLabels: { app: "db" } }, topologyKey: "kubernetes.io/hostname" };
      const apart = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
      const near = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
      for (const name of ["db-0", "db-1", "db-2"]) await stage.pod(name, apart, { labels: { app: "db" } });
      await stage.pass(1000);
      const pods = await Promise.all(["db-0", "db-1", "db-2"].map((name) => stage.get(name)));
      const places = pods.map(({ spec }) => spec?.nodeName).filter(Boolean);
      assert.deepEqual([...places].sort(), ["a", "b"]);
      const left = pods.find(({ spec }) => !spec?.nodeName)!;
      assert.match(
        (await message(stage, left.metadata.name))!,
        /^0\/2 nodes are available: 2 node\(s\) didn't match pod anti-affinity rules\. preemption: /,
      );
      await stage.wait(stage.cluster.client.delete(Pod, `default/${left.metadata.name}`));
      await stage.pod("cache", near, { labels: { app: "cache" } });
      await stage.pass(1000);
      assert.ok((await stage.get("cache")).spec?.nodeName);
    },
  ));

test("pods are spread over zones no less evenly than asked", () =>
  onNodes(
    [
      node("a1", { labels: { zone: "a" } }),
      node("a2", { labels: { zone: "a" } }),
      node("b1", { labels: { zone: "b" } }),
    ],
    async (stage) => {
      const labelSelector = { matchLabels: { app: "web" } };
      const topologySpreadConstraints = [
        { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" as const, labelSelector },
      ];
      for (let i = 0; i < 4; i++)
        await stage.pod(`web-${i}`, { topologySpreadConstraints }, { labels: { app: "web" } });
      await stage.pass(1000);
      const places = await Promise.all([0, 1, 2, 3].map(async (i) => (await stage.get(`web-${i}`)).spec?.nodeName));
      assert.equal(places.filter((place) => place === "b1").length, 2);
    },
  ));

test("nodes that are cordoned, and ports that are taken, refuse pods", () =>
  onNodes([node("one")], async (stage) => {
    const ports = [{ containerPort: 80, hostPort: 80 }];
    const listening = { containers: [{ name: "main", image: "app", ports }] };
    await stage.pod("first", listening);
    await stage.pod("second", listening);
    await stage.pass(1000);
    assert.match((await message(stage, "second"))!, /1 node\(s\) didn't have free ports for the requested pod ports\./);
    await stage.wait(stage.cluster.client.patch(Node, "one", { merge: { spec: { unschedulable: true } } }));
    await stage.pod("third");
    await stage.pass(1000);
    assert.match(
      (await message(stage, "third"))!,
      /^0\/1 nodes are available: 1 node\(s\) (were unschedulable|had untolerated taint\(s\))\./,
    );
  }));

test("a pod with gates waits until they are open", () =>
  onNodes([node("one")], async (stage) => {
    await stage.pod("gated", { schedulingGates: [{ name: "example.com/quota" }] });
    await stage.pass(1000);
    assert.equal(conditionOf(await stage.get("gated"), "PodScheduled")?.reason, "SchedulingGated");
    await stage.wait(stage.cluster.client.patch(Pod, "default/gated", { merge: { spec: { schedulingGates: null } } }));
    await stage.pass(1000);
    assert.equal((await stage.get("gated")).spec?.nodeName, "one");
  }));

test("the pods of a group find their places together, or none does", () =>
  onNodes([node("one"), node("two")], async (stage) => {
    const { client } = stage.cluster;
    const names = { plural: "podgroups", singular: "podgroup", kind: "PodGroup", listKind: "PodGroupList" };
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    const versions = [{ name: "v1alpha1", served: true, storage: true, schema }];
    const spec = { group: "scheduling.x-k8s.io", names, scope: "Namespaced", versions };
    await stage.wait(
      client.create(CustomResourceDefinition, { metadata: { name: "podgroups.scheduling.x-k8s.io" }, spec } as never),
    );
    await stage.pass(1000);
    const PodGroup = {
      group: "scheduling.x-k8s.io",
      version: "v1alpha1",
      kind: "PodGroup",
      plural: "podgroups",
      namespaced: true,
    };
    await stage.wait(
      client.create(PodGroup, { metadata: { name: "gang", namespace: "default" }, spec: { minMember: 3 } } as never),
    );
    const labels = { "scheduling.x-k8s.io/pod-group": "gang" };
    const places = async () =>
      Promise.all([0, 1, 2].map(async (i) => Boolean((await stage.get(`gang-${i}`)).spec?.nodeName)));
    for (let i = 0; i < 3; i++) await stage.pod(`gang-${i}`, asking({ cpu: "3" }), { labels });
    await stage.pass(5000);
    assert.deepEqual(await places(), [false, false, false], "two would fit, three do not");
    const status = { capacity: { cpu: "4", memory: "8Gi", pods: "110" } };
    await stage.wait(client.create(Node, { metadata: { name: "three" }, status } as never));
    await stage.pass(60_000);
    assert.deepEqual(await places(), [true, true, true]);
  }));
