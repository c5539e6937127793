import assert from "node:assert/strict";
import { test } from "node:test";
import { Pod } from "@konverge/kinds";
import { asking, conditionOf, containerOf, node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

const resize = ({ cluster, wait }: VirtualNodes, name: string, requests: Record<string, string>) =>
  wait(
    cluster.client.request({
      method: "PATCH",
      path: `/api/v1/namespaces/default/pods/${name}/resize`,
      contentType: "application/strategic-merge-patch+json",
      body: { spec: { containers: [{ name: "main", resources: { requests } }] } },
    }),
  );

const given = async (stage: VirtualNodes, name: string) =>
  containerOf(await stage.get(name)).allocatedResources?.["cpu"];

test("a running pod is given more, without a restart", () =>
  onNodes([node("one")], async (stage) => {
    await stage.pod("web", asking({ cpu: "1", memory: "1Gi" }));
    await stage.pass(5000);
    assert.equal(await given(stage, "web"), "1");
    await resize(stage, "web", { cpu: "2" });
    await stage.pass(5000);
    const status = containerOf(await stage.get("web"));
    assert.deepEqual(status.allocatedResources, { cpu: "2", memory: "1Gi" });
    assert.deepEqual(status.resources?.requests, { cpu: "2", memory: "1Gi" });
    assert.equal(status.restartCount, 0);
    assert.equal(conditionOf(await stage.get("web"), "PodResizePending"), undefined);
    const events = await stage.events("web");
    assert.ok(
      events.some((line) => line.startsWith("ResizeCompleted Pod resize completed: ")),
      events.join("\n"),
    );
  }));

test("a resize is in progress between being allocated and being there", () =>
  onNodes([node("one")], async (stage) => {
    await stage.pod("web", asking({ cpu: "1" }));
    await stage.pass(5000);
    await resize(stage, "web", { cpu: "2" });
    await stage.pass(100);
    const meanwhile = await stage.get("web");
    assert.equal(conditionOf(meanwhile, "PodResizeInProgress")?.status, "True");
    assert.equal(containerOf(meanwhile).allocatedResources?.["cpu"], "2");
    assert.equal(containerOf(meanwhile).resources?.requests?.["cpu"], "1");
    await stage.pass(5000);
    const done = await stage.get("web");
    assert.equal(conditionOf(done, "PodResizeInProgress"), undefined);
    assert.equal(containerOf(done).resources?.requests?.["cpu"], "2");
    const events = (await stage.events("web")).filter((line) => line.startsWith("Resize"));
    assert.deepEqual(
      events.map((line) => line.split(" ")[0]),
      ["ResizeStarted", "ResizeCompleted"],
    );
  }));

test("what a container may use is what it has been given, also while it asks for more", () =>
  onNodes([node("one")], async (stage) => {
    const limited = (cpu: string) => ({ requests: { cpu }, limits: { cpu } });
    const { containers } = asking({});
    const command = ["sh", "-c", "while true; do cat /sys/fs/cgroup/cpu.max; sleep 10; done"];
    await stage.pod("web", {
      containers: containers!.map((one) => ({ ...one, image: "busybox", command, resources: limited("1") })),
    });
    await stage.pod("other", asking({ cpu: "2" }));
    await stage.pass(5000);
    const change = (cpu: string) =>
      stage.wait(
        stage.cluster.client.request({
          method: "PATCH",
          path: "/api/v1/namespaces/default/pods/web/resize",
          contentType: "application/strategic-merge-patch+json",
          body: { spec: { containers: [{ name: "main", resources: limited(cpu) }] } },
        }),
      );
    await change("3");
    await stage.pass(30_000);
    assert.equal(conditionOf(await stage.get("web"), "PodResizePending")?.reason, "Deferred");
    await change("2");
    await stage.pass(30_000);
    assert.equal(conditionOf(await stage.get("web"), "PodResizePending"), undefined);
    const lines: string[] = [];
    const read = (async () => {
      for await (const line of stage.cluster.client.logs("default/web")) lines.push(line);
    })();
    await stage.wait(read);
    assert.deepEqual([...new Set(lines)], ["100000 100000", "200000 100000"]);
  }));

test("what a node has no room for is deferred until there is", () =>
  onNodes([node("one")], async (stage) => {
    await stage.pod("web", asking({ cpu: "1" }));
    await stage.pod("other", asking({ cpu: "2" }));
    await stage.pass(5000);
    await resize(stage, "web", { cpu: "3" });
    await stage.pass(5000);
    const pending = conditionOf(await stage.get("web"), "PodResizePending");
    assert.deepEqual(
      [pending?.status, pending?.reason, pending?.message],
      ["True", "Deferred", "Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000"],
    );
    assert.equal(await given(stage, "web"), "1");
    await stage.wait(stage.cluster.client.delete(Pod, "default/other"));
    await stage.pass(60_000);
    assert.equal(await given(stage, "web"), "3");
    assert.equal(conditionOf(await stage.get("web"), "PodResizePending"), undefined);
  }));

test("a container that must be restarted for it is", () =>
  onNodes([node("one")], async (stage) => {
    const resizePolicy = [{ resourceName: "cpu", restartPolicy: "RestartContainer" as const }];
    const { containers } = asking({ cpu: "1" });
    await stage.pod("web", { containers: containers!.map((one) => ({ ...one, resizePolicy })) });
    await stage.pass(5000);
    await resize(stage, "web", { cpu: "2" });
    await stage.pass(60_000);
    assert.equal(conditionOf(await stage.get("web"), "PodResizeInProgress"), undefined);
    const status = containerOf(await stage.get("web"));
    assert.equal(status.restartCount, 1);
    assert.ok(status.state?.running);
    assert.equal(status.allocatedResources?.["cpu"], "2");
  }));

test("nothing but processor and memory can be changed so", () =>
  onNodes([node("one")], async (stage) => {
    await stage.pod("web", asking({ cpu: "1" }));
    await stage.pass(5000);
    const patch = (containers: object[]) =>
      stage.wait(
        stage.cluster.client.request({
          method: "PATCH",
          path: "/api/v1/namespaces/default/pods/web/resize",
          contentType: "application/strategic-merge-patch+json",
          body: { spec: { containers } },
        }),
      );
    await assert.rejects(patch([{ name: "main", image: "other" }]), /only cpu and memory resources are mutable/);
    await assert.rejects(patch([{ name: "more", image: "other" }]), /containers may not be added or removed on resize/);
    await assert.rejects(
      patch([{ name: "main", resources: { requests: { cpu: null } } }]),
      /resource requests cannot be removed/,
    );
  }));
