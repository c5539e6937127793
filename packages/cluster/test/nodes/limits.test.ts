import assert from "node:assert/strict";
import { test } from "node:test";
import { NotSettledError } from "@konverge/cluster";
import type { Container } from "@konverge/kinds";
import { containerOf, node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

const NODES = [node("one")];

function container(script: string, more: Partial<Container> = {}): Container {
  return { name: "main", image: "busybox:1.37", command: ["sh", "-c", script], ...more };
}

/** A pod that is not started again, after some time. */
async function after(stage: VirtualNodes, ms: number, main: Container, more: object = {}) {
  await stage.pod("p", { restartPolicy: "Never", containers: [main], ...more });
  await stage.pass(ms);
  return stage.get("p");
}

/** Runs a command in the pod; resolves to what it wrote. */
async function executed(stage: VirtualNodes, command: string): Promise<string> {
  const output = async () => (await stage.cluster.client.exec("default/p", ["sh", "-c", command])).output();
  return (await stage.wait(output())).stdout;
}

test("a container over its memory limit is OOMKilled, and restarted by its restart policy", () =>
  onNodes(NODES, async (stage) => {
    const greedy = container("sleep 5; x=a; while :; do x=$x$x; done", { resources: { limits: { memory: "4Mi" } } });
    const pod = await after(stage, 60_000, greedy);
    const { reason, exitCode } = containerOf(pod).state?.terminated ?? {};
    assert.deepEqual([pod.status?.phase, reason, exitCode], ["Failed", "OOMKilled", 137]);
    await stage.pod("again", { containers: [greedy] });
    await stage.pass(8_000);
    const { restartCount, lastState } = containerOf(await stage.get("again"));
    assert.equal(restartCount, 1);
    assert.equal(lastState?.terminated?.reason, "OOMKilled");
  }));

test("memory of an exec session counts as memory of the container", () =>
  onNodes(NODES, async (stage) => {
    await after(stage, 5_000, container("while true; do sleep 1; done", { resources: { limits: { memory: "4Mi" } } }));
    const { code } = await stage.wait(
      stage.cluster.client.exec("default/p", ["sh", "-c", "x=$(yes)"]).then((process) => process.output()),
    );
    assert.equal(code, 137);
    await stage.pass(5_000);
    assert.equal(containerOf(await stage.get("p")).state?.terminated?.reason, "OOMKilled");
  }));

test("a pod that exceeds the size limit of an emptyDir is evicted", () =>
  onNodes(NODES, async (stage) => {
    const main = container("head -c 2M /dev/zero > /data/f; sleep 1000; cat /data/f", {
      volumeMounts: [{ name: "data", mountPath: "/data" }],
    });
    const volumes = [{ name: "data", emptyDir: { sizeLimit: "1Mi" } }];
    const { status } = await after(stage, 30_000, main, { volumes });
    assert.deepEqual(
      [status?.phase, status?.reason, status?.message],
      ["Failed", "Evicted", 'Usage of EmptyDir volume "data" exceeds the limit "1Mi". '],
    );
  }));

test("a pod whose container exceeds its ephemeral storage limit is evicted", () =>
  onNodes([node("one", {}, { "ephemeral-storage": "1Gi" })], async (stage) => {
    const resources = { limits: { "ephemeral-storage": "1Mi" } };
    const main = container("head -c 2M /dev/zero > /tmp/f; while true; do sleep 10; done", { resources });
    const quiet = { ...container("while true; do sleep 10; done"), name: "quiet" };
    await stage.pod("p", { containers: [main, quiet] });
    await stage.pass(30_000);
    const { status } = await stage.get("p");
    assert.equal(status?.reason, "Evicted");
    assert.equal(status?.message, 'Container main exceeded its local ephemeral storage limit "1Mi". ');
  }));

test("an emptyDir in memory has the size of its limit, and the disk has a size", () =>
  onNodes(NODES, async (stage) => {
    const script =
      "cat /dev/zero > /shm/f; ls -l /shm/f | tr -s ' ' | cut -d' ' -f5; cat /dev/zero > /f; rm /f; echo fine > /f; cat /f";
    const main = container(script, { volumeMounts: [{ name: "shm", mountPath: "/shm" }] });
    const volumes = [{ name: "shm", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } }];
    await after(stage, 60_000, main, { volumes });
    const [worker] = stage.cluster.kubelet.workers();
    assert.deepEqual(
      worker?.containers[0]?.log?.lines.map(({ text }) => text),
      ["cat: write error: No space left on device", "1048576", "cat: write error: No space left on device", "fine"],
    );
  }));

test("an endless loop lets a cluster become idle; any other busy process is named", () =>
  onNodes(NODES, async (stage) => {
    const { cluster } = stage;
    await stage.pod("endless", { containers: [container("while true; do :; done")] });
    await cluster.settled({ idlePeriod: 10_000 });
    await stage.pod("busy", { containers: [container("while [ 1 = 1 ]; do :; done")] });
    await assert.rejects(cluster.settled({ idlePeriod: 5_000, timeout: 20_000 }), (error: unknown) => {
      assert.ok(error instanceof NotSettledError);
      assert.ok(
        error.reasons.some((reason) => reason.startsWith("cpu: default/busy main")),
        error.message,
      );
      return true;
    });
  }));

test("metrics report the measured usage of interpreted containers", () =>
  onNodes(NODES, async (stage) => {
    const loop = (script: string, resources = {}) => ({ containers: [container(script, { resources })] });
    await stage.pod("idle", loop("while true; do sleep 1; done", { requests: { cpu: "1" } }));
    await stage.pod("limited", loop("while true; do :; done", { limits: { cpu: "100m" } }));
    await stage.pod("busy", loop("while true; do :; done"));
    await stage.pass(40_000);
    const path = "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods";
    const { items } = JSON.parse(await stage.wait(stage.cluster.client.request({ method: "GET", path })));
    const used = new Map<string, number>();
    for (const { metadata, containers } of items)
      used.set(metadata.name, Number.parseInt(containers[0].usage.cpu, 10) / 1e6);
    const [idle, limited, busy] = ["idle", "limited", "busy"].map((name) => used.get(name)!);
    assert.ok(idle! < 20, `idle: ${idle}m`);
    assert.ok(Math.abs(limited! - 100) < 20, `limited: ${limited}m`);
    assert.ok(busy! > 900 && busy! <= 1000, `busy: ${busy}m`);
  }));

test("an exec session waits for a client that does not read, and is killed when the client disconnects", () =>
  onNodes(NODES, async (stage) => {
    const { client, kubelet } = stage.cluster;
    const pod = await after(stage, 5_000, container("while true; do sleep 1; done"));
    const before = kubelet.containerRuntime.usage(pod, "main")!.memory;
    const script = "i=0; while :; do i=$((i+1)); echo $i > /tmp/count; seq 1 10000; done";
    const process = await stage.wait(client.exec("default/p", ["sh", "-c", script]));
    // It reads once: a client of ours keeps a mebibyte, and all of what is never read.
    await stage.wait(process.stdout[Symbol.asyncIterator]().next());
    await stage.pass(5_000);
    const count = await executed(stage, "cat /tmp/count");
    assert.ok(Number(count) < 50, `${count} times 49 kB`);
    await stage.pass(60_000);
    assert.equal(await executed(stage, "cat /tmp/count"), count);
    assert.ok(kubelet.containerRuntime.usage(pod, "main")!.memory > before);
    process.close();
    await stage.pass(5_000);
    assert.equal(kubelet.containerRuntime.usage(pod, "main")!.memory, before);
  }));

test("an attached client that does not read does not block the container", () =>
  onNodes(NODES, async (stage) => {
    await after(stage, 1_000, container("while true; do seq 1 20000; echo more >> /tmp/rounds; sleep 1; done"));
    const attached = await stage.wait(stage.cluster.client.attach("default/p"));
    await stage.pass(20_000);
    assert.ok(Number(await executed(stage, "wc -l < /tmp/rounds")) > 10);
    attached.close();
  }));
