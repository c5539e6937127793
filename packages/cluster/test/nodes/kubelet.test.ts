import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Event, Job, Pod } from "@konverge/kinds";
import { conditionOf, containerOf, node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

const nodes = [node("one")];
const sim = (values: Record<string, string>) => ({
  annotations: Object.fromEntries(Object.entries(values).map(([key, value]) => [`sim.konverge.dev/${key}`, value])),
});
const logsOf = async ({ cluster, wait }: VirtualNodes, name: string, options: object = {}) => {
  const lines: string[] = [];
  await wait(
    (async () => {
      for await (const line of cluster.client.logs(`default/${name}`, options)) lines.push(line);
    })(),
  );
  return lines;
};

test("a pod of an unknown image runs, is ready and has addresses", () =>
  onNodes(nodes, async (stage) => {
    await stage.pod("web");
    await stage.pass(1000);
    const { status } = await stage.get("web");
    assert.equal(status?.phase, "Running");
    assert.match(status?.podIP ?? "", /^10\.244\.0\.\d+$/);
    assert.equal(status?.hostIP, "172.18.0.1");
    for (const type of ["Initialized", "Ready", "ContainersReady", "PodScheduled"]) {
      assert.equal(conditionOf(await stage.get("web"), type)?.status, "True", type);
    }
  }));

test("a container that crashes is started again at once, then after 10, 20, 40 seconds", () =>
  onNodes(nodes, async (stage) => {
    await stage.pod("web", {}, sim({ "crash-after": "1s", "exit-code": "3" }));
    const restarts: number[] = [];
    const started = stage.clock.now();
    for (let last = 0; last < 4; ) {
      await stage.pass(100);
      const { restartCount } = await stage
        .get("web")
        .then((pod) => pod.status?.containerStatuses?.[0] ?? { restartCount: 0 });
      if (restartCount > last) restarts.push(Math.round((stage.clock.now() - started) / 1000));
      last = Math.max(last, restartCount);
    }
    assert.deepEqual(restarts, [1, 12, 33, 74]);
    await stage.pass(2000);
    const pod = await stage.get("web");
    assert.equal(containerOf(pod).state?.waiting?.reason, "CrashLoopBackOff");
    assert.match(
      containerOf(pod).state?.waiting?.message ?? "",
      /^back-off 1m20s restarting failed container=main pod=web_default\(/,
    );
    assert.equal(containerOf(pod).lastState?.terminated?.exitCode, 3);
    assert.equal(pod.status?.phase, "Running");
    assert.equal(conditionOf(pod, "Ready")?.message, "containers with unready status: [main]");
  }));

test("a pod whose containers are killed from outside has crashed, and they start again", () =>
  onNodes(nodes, async (stage) => {
    await stage.pod("web");
    await stage.pass(1000);
    assert.equal(stage.cluster.faults.crashPod("default/absent"), false);
    assert.equal(stage.cluster.faults.crashPod("default/web"), true);
    await stage.pass(1000);
    const container = containerOf(await stage.get("web"));
    assert.equal(container.restartCount, 1);
    assert.equal(container.lastState?.terminated?.exitCode, 137);
    assert.ok(container.state?.running);
  }));

test("init containers run one after the other before the rest, and sidecars stay", () =>
  onNodes(nodes, async (stage) => {
    const initContainers = [
      { name: "fetch", image: "fetch", command: ["sleep", "5"] },
      { name: "proxy", image: "proxy", restartPolicy: "Always" as const },
    ];
    await stage.pod("web", { initContainers });
    await stage.pass(2000);
    let pod = await stage.get("web");
    assert.equal(pod.status?.phase, "Pending");
    assert.equal(containerOf(pod).state?.waiting?.reason, "PodInitializing");
    assert.equal(conditionOf(pod, "Initialized")?.message, "containers with incomplete status: [fetch proxy]");
    await stage.pass(5000);
    pod = await stage.get("web");
    assert.equal(containerOf(pod, "fetch").state?.terminated?.reason, "Completed");
    assert.ok(containerOf(pod, "proxy").state?.running);
    assert.equal(pod.status?.phase, "Running");
  }));

test("a Job's pod runs and ends; well-known commands do what they do elsewhere", () =>
  onNodes(nodes, async (stage) => {
    const template = { spec: { restartPolicy: "Never" as const, containers: [{ name: "main", image: "work" }] } };
    await stage.wait(
      stage.cluster.client.create(Job, { metadata: { name: "work", namespace: "default" }, spec: { template } }),
    );
    const pause = [{ name: "main", image: "registry.k8s.io/pause:3.10" }];
    await stage.wait(
      stage.cluster.client.create(Job, {
        metadata: { name: "idle", namespace: "default" },
        spec: { template: { spec: { restartPolicy: "Never", containers: pause } } },
      }),
    );
    await stage.pod("fails", {
      restartPolicy: "Never",
      containers: [{ name: "main", image: "sh", command: ["sh", "-c", "echo no; sleep 2; exit 4"] }],
    });
    await stage.pass(10_000);
    assert.equal((await stage.wait(stage.cluster.client.get(Job, "default/work"))).status?.succeeded, 1);
    assert.equal((await stage.wait(stage.cluster.client.get(Job, "default/idle"))).status?.active, 1);
    const pod = await stage.get("fails");
    assert.equal(pod.status?.phase, "Failed");
    assert.equal(containerOf(pod).state?.terminated?.exitCode, 4);
    assert.deepEqual(await logsOf(stage, "fails"), ["no"]);
  }));

test("a container waits for the ConfigMap it needs, and says so", () =>
  onNodes(nodes, async (stage) => {
    const env = [{ name: "MODE", valueFrom: { configMapKeyRef: { name: "settings", key: "mode" } } }];
    await stage.pod("web", { containers: [{ name: "main", image: "app", env }] });
    await stage.pass(1000);
    const { waiting } = containerOf(await stage.get("web")).state ?? {};
    assert.deepEqual(waiting, { reason: "CreateContainerConfigError", message: 'configmap "settings" not found' });
    const settings = { metadata: { name: "settings", namespace: "default" }, data: { mode: "fast" } };
    await stage.wait(stage.cluster.client.create(ConfigMap, settings));
    await stage.pass(1000);
    assert.equal((await stage.get("web")).status?.phase, "Running");
  }));

test("an image that cannot be pulled, and memory that runs out, are reported as nodes do", () =>
  onNodes(nodes, async (stage) => {
    await stage.pod("lost", {}, sim({ "fail-pull": "true" }));
    await stage.pod("greedy", { restartPolicy: "Never" }, sim({ "oom-after": "1s" }));
    await stage.pass(3000);
    assert.equal(containerOf(await stage.get("lost")).state?.waiting?.reason, "ImagePullBackOff");
    const { terminated } = containerOf(await stage.get("greedy")).state ?? {};
    assert.equal(`${terminated?.exitCode} ${terminated?.reason}`, "137 OOMKilled");
    assert.equal((await stage.get("greedy")).status?.phase, "Failed");
  }));

test("a pod that is deleted has its grace period, and no more", () =>
  onNodes(nodes, async (stage) => {
    await stage.pod("quick");
    await stage.pod("stubborn", { terminationGracePeriodSeconds: 20 }, sim({ "stop-duration": "never" }));
    await stage.pass(1000);
    for (const name of ["quick", "stubborn"]) await stage.wait(stage.cluster.client.delete(Pod, `default/${name}`));
    await stage.pass(1000);
    await assert.rejects(stage.get("quick"), /not found/);
    await stage.pass(10_000);
    assert.ok((await stage.get("stubborn")).metadata.deletionTimestamp);
    await stage.pass(10_000);
    await assert.rejects(stage.get("stubborn"), /not found/);
  }));

test("readiness follows an annotation while the pod runs", () =>
  onNodes(nodes, async (stage) => {
    await stage.pod("web");
    await stage.pass(1000);
    const annotate = (ready: string | null) =>
      stage.wait(
        stage.cluster.client.patch(Pod, "default/web", {
          merge: { metadata: { annotations: { "sim.konverge.dev/ready": ready } } },
        } as never),
      );
    await annotate("false");
    await stage.pass(1000);
    assert.equal(conditionOf(await stage.get("web"), "Ready")?.status, "False");
    await annotate(null);
    await stage.pass(1000);
    assert.equal(conditionOf(await stage.get("web"), "Ready")?.status, "True");
  }));

test("an image can be a program: it has its arguments, environment and files, and its output and exit code are the pod's", () =>
  onNodes(nodes, async (stage) => {
    const { client } = stage.cluster;
    await stage.wait(
      client.create(ConfigMap, { metadata: { name: "settings", namespace: "default" }, data: { "a.txt": "hello" } }),
    );
    stage.cluster.image("example.com/tool", {
      async run({ args, env, files, write }) {
        write(`${args.join(" ")} ${env["NAME"]} ${files.get("/etc/settings/a.txt")}\n`);
        return 7;
      },
    });
    await stage.pod("tool", {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      volumes: [{ name: "settings", configMap: { name: "settings" } }],
      containers: [
        {
          name: "main",
          image: "example.com/tool:v1",
          args: ["--name=$(NAME)"],
          env: [{ name: "NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
          volumeMounts: [{ name: "settings", mountPath: "/etc/settings" }],
        },
      ],
    });
    await stage.pass(2000);
    assert.equal(containerOf(await stage.get("tool")).state?.terminated?.exitCode, 7);
    assert.deepEqual(await logsOf(stage, "tool"), ["--name=tool tool hello"]);
  }));

test("logs can be cut at either end, and those of the run before are kept", () =>
  onNodes(nodes, async (stage) => {
    await stage.pod("web", {}, sim({ logs: "one\ntwo\nthree", "crash-after": "5s" }));
    await stage.pass(7000);
    assert.deepEqual(await logsOf(stage, "web", { tailLines: 2 }), ["two", "three"]);
    assert.deepEqual(await logsOf(stage, "web", { previous: true }), ["one", "two", "three"]);
    assert.match(
      (await logsOf(stage, "web", { tailLines: 1, timestamps: true }))[0]!,
      /^2026-01-01T00:00:\d\d\.\d+Z three$/,
    );
    await assert.rejects(logsOf(stage, "web", { container: "nope" }), /container nope is not valid for pod web/);
    await stage.pod("umlauts", {}, sim({ logs: "äöü\nz" }));
    await stage.pass(2000);
    assert.deepEqual(await logsOf(stage, "umlauts", { limitBytes: 4 }), ["äö"]);
    assert.deepEqual(await logsOf(stage, "umlauts", { limitBytes: 8 }), ["äöü", "z"]);
    await assert.rejects(
      logsOf(stage, "umlauts", { limitBytes: 0 }),
      /limitBytes: Invalid value: 0: must be greater than 0/,
    );
  }));

test("metrics report the usage of containers from their annotations or requests", () =>
  onNodes(nodes, async (stage) => {
    await stage.pod("busy", {}, sim({ cpu: "250m", memory: "64Mi" }));
    await stage.pass(1000);
    const read = async (path: string) =>
      JSON.parse(await stage.wait(stage.cluster.client.request({ method: "GET", path }))) as Record<string, never>;
    const { containers } = await read("/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/busy");
    assert.deepEqual(containers, [{ name: "main", usage: { cpu: "250000000n", memory: "64Mi" } }]);
    const { usage } = await read("/apis/metrics.k8s.io/v1beta1/nodes/one");
    assert.deepEqual(usage, { cpu: "250000000n", memory: "64Mi" });
  }));

test("the same seed gives the same events at the same times", async () => {
  const play = async () => {
    const events: string[] = [];
    await onNodes(
      [node("one"), node("two"), node("three")],
      async (stage) => {
        for (let i = 0; i < 6; i++) await stage.pod(`web-${i}`, {}, i % 2 ? sim({ "crash-after": `${i}s` }) : {});
        await stage.pass(120_000);
        const { items } = await stage.wait(stage.cluster.client.list(Event, { namespace: "default" }));
        for (const { metadata, message, count, lastTimestamp } of items) {
          events.push(`${metadata.name} ${message} ${count} ${lastTimestamp}`);
        }
      },
      { seed: 7 },
    );
    return events;
  };
  const first = await play();
  assert.ok(first.length > 20);
  assert.deepEqual(await play(), first);
});

test("a pod that becomes ready no longer reports why it was not", () =>
  onNodes([node("one")], async (stage) => {
    await stage.pod("web", {}, sim({ "ready-delay": "10s" }));
    const reported = async (type: string) => {
      const condition = (await stage.get("web")).status?.conditions?.find((one) => one.type === type);
      return [condition?.status, condition?.reason, condition?.message];
    };
    await stage.pass(2000);
    const unready = ["False", "ContainersNotReady", "containers with unready status: [main]"];
    assert.deepEqual([await reported("Ready"), await reported("ContainersReady")], [unready, unready]);
    await stage.pass(30_000);
    const ready = ["True", undefined, undefined];
    assert.deepEqual([await reported("Ready"), await reported("ContainersReady")], [ready, ready]);
  }));
