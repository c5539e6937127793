import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, PodSpec } from "@konverge/kinds";
import { containerOf, node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

const nodes = [node("one", {}, { cpu: "4", memory: "8Gi", pods: "3" })];
const asks = (requests: Record<string, string>): Partial<PodSpec> => ({
  nodeName: "one",
  containers: [{ name: "main", image: "app", resources: { requests } }],
});
const outcome = async (stage: VirtualNodes, name: string) => {
  await stage.pass(2000);
  const { status } = await stage.get(name);
  return [status?.phase, status?.reason, status?.message];
};

test("a node rejects a pod that names it and asks for more than it has left", () =>
  onNodes(nodes, async (stage) => {
    await stage.pod("first", asks({ cpu: "3", memory: "1Gi" }));
    assert.deepEqual(await outcome(stage, "first"), ["Running", undefined, undefined]);
    await stage.pod("second", asks({ cpu: "2", memory: "100Gi" }));
    const said = "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000";
    assert.deepEqual(await outcome(stage, "second"), ["Failed", "OutOfcpu", `Pod was rejected: ${said}`]);
    assert.ok((await stage.events("second")).includes(`OutOfcpu ${said}`));
    await stage.pod("third", asks({ memory: "8Gi" }));
    const bytes = `requested: ${8 * 2 ** 30}, used: ${2 ** 30}, capacity: ${8 * 2 ** 30}`;
    assert.deepEqual(await outcome(stage, "third"), [
      "Failed",
      "OutOfmemory",
      `Pod was rejected: Node didn't have enough resource: memory, ${bytes}`,
    ]);
    // Extended resources that no node reports may be a cluster's own.
    const resources = { requests: { cpu: "1" }, limits: { "example.com/thing": "1" } };
    await stage.pod("fourth", { nodeName: "one", containers: [{ name: "main", image: "app", resources }] });
    assert.equal((await outcome(stage, "fourth"))[0], "Running");
    await stage.pod("fifth", { nodeName: "one" });
    assert.equal((await outcome(stage, "fifth"))[0], "Running");
    await stage.pod("sixth", { nodeName: "one" });
    assert.deepEqual((await outcome(stage, "sixth")).slice(0, 2), ["Failed", "OutOfpods"]);
  }));

test("a node rejects a pod that names it and does not match it", () =>
  onNodes([node("one", { taints: [{ key: "broken", effect: "NoExecute" }] })], async (stage) => {
    const tolerations = [{ key: "broken", operator: "Exists" as const }];
    await stage.pod("selector", { nodeName: "one", tolerations, nodeSelector: { disk: "fast" } });
    const affinity =
      "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
    assert.deepEqual(await outcome(stage, "selector"), ["Failed", "NodeAffinity", affinity]);
    await stage.pod("tainted", { nodeName: "one" });
    await stage.pass(2000);
    const taints = "TaintToleration Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate";
    assert.ok((await stage.events("tainted")).includes(taints));
    await stage.pod("windows", { nodeName: "one", tolerations, os: { name: "windows" } });
    assert.deepEqual(await outcome(stage, "windows"), [
      "Failed",
      "PodOSNotSupported",
      "Pod was rejected: Failed to admit pod as the OS field doesn't match node OS",
    ]);
    await stage.pod("right", { nodeName: "one", tolerations });
    assert.equal((await outcome(stage, "right"))[0], "Running");
  }));

test("a node rejects a pod that sets kernel parameters which are not safe", () =>
  onNodes(nodes, async (stage) => {
    const setting = (name: string, more: Partial<PodSpec> = {}) => ({
      ...more,
      securityContext: { sysctls: [{ name, value: "1" }] },
    });
    await stage.pod("safe", setting("net/ipv4/tcp_syncookies"));
    assert.equal((await outcome(stage, "safe"))[0], "Running");
    await stage.pod("unsafe", setting("kernel.msgmax"));
    assert.deepEqual(await outcome(stage, "unsafe"), [
      "Failed",
      "SysctlForbidden",
      'Pod was rejected: forbidden sysctl: "kernel.msgmax" not allowlisted',
    ]);
  }));

test("a container that must not run as root and would is not created", () =>
  onNodes(nodes, async (stage) => {
    const { cluster } = stage;
    cluster.image("as-user", { user: 1000, commands: {} });
    const pod = (name: string, image: string, securityContext: Container["securityContext"]) =>
      stage.pod(name, {
        containers: [{ name: "main", image, command: ["sleep", "inf"], securityContext } as Container],
      });
    const waiting = async (name: string) => {
      await stage.pass(2000);
      const found = await stage.get(name);
      const { reason, message = "" } = containerOf(found).state?.waiting ?? {};
      return [reason, message.replace(found.metadata.uid ?? "-", "UID")];
    };
    await pod("explicit", "app", { runAsNonRoot: true, runAsUser: 0 });
    assert.deepEqual(await waiting("explicit"), [
      "CreateContainerConfigError",
      'container\'s runAsUser breaks non-root policy (pod: "explicit_default(UID)", container: main)',
    ]);
    await pod("image", "busybox", { runAsNonRoot: true });
    assert.deepEqual(await waiting("image"), [
      "CreateContainerConfigError",
      'container has runAsNonRoot and image will run as root (pod: "image_default(UID)", container: main)',
    ]);
    assert.ok((await stage.events("image")).some((one) => one.startsWith("Failed Error: container has runAsNonRoot")));
    await pod("user", "as-user", { runAsNonRoot: true });
    assert.deepEqual(await waiting("user"), [undefined, ""]);
  }));

test("a program that an image does not have cannot be started", () =>
  onNodes(nodes, async (stage) => {
    const never = { restartPolicy: "Never" as const };
    await stage.pod("path", {
      ...never,
      containers: [{ name: "main", image: "busybox", command: ["/no/such/binary"] }],
    });
    await stage.pass(2000);
    const runc =
      "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init";
    const pod = await stage.get("path");
    assert.equal(pod.status?.phase, "Failed");
    const { exitCode, reason, message } = containerOf(pod).state?.terminated ?? {};
    assert.deepEqual([exitCode, reason], [128, "StartError"]);
    const missing = `${runc}: exec: "/no/such/binary": stat /no/such/binary: no such file or directory`;
    assert.equal(message, missing);
    const events = await stage.events("path");
    assert.ok(events.includes(`Failed Error: ${missing}`));
    assert.ok(!events.includes("Started Container started"));
    await stage.pod("name", { containers: [{ name: "main", image: "alpine:3", args: ["slep", "5"] }] });
    await stage.pass(5000);
    const restarted = containerOf(await stage.get("name"));
    assert.equal(restarted.state?.waiting?.reason, "CrashLoopBackOff");
    assert.equal(restarted.lastState?.terminated?.message, `${runc}: exec: "slep": executable file not found in $PATH`);
    // Another container may have copied it there, and images that are only a name may have it.
    const volumes = [{ name: "tools", emptyDir: {} }];
    const volumeMounts = [{ name: "tools", mountPath: "/tools" }];
    const containers = [
      { name: "main", image: "busybox", command: ["/tools/entrypoint"], volumeMounts },
      { name: "other", image: "ghcr.io/example/app", command: ["/app/server"] },
    ];
    await stage.pod("copied", { volumes, containers });
    await stage.pass(2000);
    assert.equal((await stage.get("copied")).status?.phase, "Running");
  }));

test("allowPrivilegeEscalation decides whether a program with the setuid bit runs as root", () =>
  onNodes(nodes, async (stage) => {
    const { cluster, wait } = stage;
    const show = { show: async ({ run }: { run(argv: string[]): Promise<number> }) => run(["id", "-u"]) };
    cluster.image("raising", { user: 1000, setuid: ["show"], commands: show });
    const logOf = async (name: string, allowPrivilegeEscalation: boolean | undefined) => {
      const securityContext = allowPrivilegeEscalation === undefined ? {} : { allowPrivilegeEscalation };
      const script = "id -u; show; grep NoNewPrivs /proc/self/status";
      const main = { name: "main", image: "raising", command: ["sh", "-c", script], securityContext };
      await stage.pod(name, { restartPolicy: "Never", containers: [main] });
      await stage.pass(2000);
      const lines: string[] = [];
      await wait(
        (async () => {
          for await (const line of cluster.client.logs(`default/${name}`, {})) lines.push(line);
        })(),
      );
      return lines;
    };
    assert.deepEqual(await logOf("unset", undefined), ["1000", "0", "NoNewPrivs:\t0"]);
    assert.deepEqual(await logOf("allowed", true), ["1000", "0", "NoNewPrivs:\t0"]);
    assert.deepEqual(await logOf("refused", false), ["1000", "1000", "NoNewPrivs:\t1"]);
  }));

test("what the containers of a node use never exceeds the node", () =>
  onNodes(nodes, async (stage) => {
    const { cluster, wait } = stage;
    const using = { annotations: { "sim.konverge.dev/cpu": "30", "sim.konverge.dev/memory": "1Ti" } };
    await stage.pod("first", {}, using);
    await stage.pod("second", {}, using);
    await stage.pass(2000);
    const read = async (path: string) =>
      JSON.parse(await wait(cluster.client.request({ method: "GET", path: `/apis/metrics.k8s.io/v1beta1/${path}` })));
    assert.deepEqual((await read("nodes/one")).usage, { cpu: "4000000000n", memory: "8Gi" });
    const { items } = await read("namespaces/default/pods");
    const ofContainers = items.map((pod: { containers: { usage: object }[] }) => pod.containers[0]?.usage);
    assert.deepEqual(ofContainers, [
      { cpu: "2000000000n", memory: "4Gi" },
      { cpu: "2000000000n", memory: "4Gi" },
    ]);
  }));

test("a process sees whether a seccomp profile applies to it", () =>
  onNodes(nodes, async (stage) => {
    const modeOf = async (name: string, ofPod: object, ofContainer: object) => {
      const command = ["grep", "Seccomp:", "/proc/self/status"];
      const main = { name: "main", image: "busybox", command, securityContext: ofContainer };
      await stage.pod(name, { restartPolicy: "Never", securityContext: ofPod, containers: [main] });
      await stage.pass(2000);
      const [line] = await stage.wait(Array.fromAsync(stage.cluster.client.logs(`default/${name}`)));
      return line;
    };
    const profile = (type: string) => ({ seccompProfile: { type } });
    assert.equal(await modeOf("none", {}, {}), "Seccomp:\t0");
    assert.equal(await modeOf("pod", profile("RuntimeDefault"), {}), "Seccomp:\t2");
    assert.equal(await modeOf("own", profile("RuntimeDefault"), profile("Unconfined")), "Seccomp:\t0");
    assert.equal(await modeOf("privileged", profile("RuntimeDefault"), { privileged: true }), "Seccomp:\t0");
  }));
