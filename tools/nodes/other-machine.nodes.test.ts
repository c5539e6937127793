import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { connect } from "@konverge/client";
import { Node, Pod, Service } from "@konverge/kinds";
import { nodeCacheFolder } from "@konverge/linux-node";
import { buildExecutable, EXECUTABLE } from "../../scripts/release/executable.ts";
import { debianArchive } from "./images/debian-image.ts";
import { busybox } from "./images/server-images.ts";
import { whyNoRealNodes } from "./requirements.ts";
import { VirtualMachine, whyNoVirtualMachine } from "./virtual-machine.ts";
import { timed, until } from "./waiting.ts";

const TAP = "konverge-other";
const [HOST, GUEST, PODS] = ["10.218.0.1", "10.218.0.2", "10.219.0.0/16"];
const built = (name: string) => join(nodeCacheFolder(), name);
/** What its container may have, which a control group of version 2 has as `memory.max`. */
const MEMORY = 64 * 2 ** 20;

/** A separate machine: another kernel, with cgroup v2. It is emulated, and therefore slow. */
describe("another machine", { skip: whyNoRealNodes() || whyNoVirtualMachine() }, () => {
  test("its kubelet joins by a token, as the guide says; its pods run, and are reached by logs, exec and a Service", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "konverge-other-"));
    execFileSync("ip", ["tuntap", "add", "dev", TAP, "mode", "tap"]);
    try {
      execFileSync("ip", ["address", "add", `${HOST}/24`, "dev", TAP]);
      execFileSync("ip", ["link", "set", TAP, "up"]);
      const files = { kubeconfig: join(folder, "kubeconfig"), bootstrap: join(folder, "bootstrap.kubeconfig") };
      const cli = join(import.meta.dirname, "../../packages/cli/bin/konverge.js");
      const where = ["--host", HOST, "--port", "6443", "--cluster-cidr", PODS, "--nodes", "0", "--gpus", "none"];
      const paths = ["--kubeconfig", files.kubeconfig, "--bootstrap-kubeconfig", files.bootstrap];
      const up = spawn(process.execPath, [cli, "up", "--name", "other-machine", ...where, ...paths], {
        env: { ...process.env, KONVERGE_HOME: folder },
        stdio: ["ignore", "inherit", "inherit", "ipc"],
      });
      const ended = once(up, "exit");
      try {
        await Promise.race([once(up, "message"), ended.then(() => assert.fail("konverge up has ended"))]);
        await joins(t, folder, files);
      } finally {
        up.kill("SIGTERM");
        await ended;
      }
    } finally {
      execFileSync("ip", ["tuntap", "del", "dev", TAP, "mode", "tap"]);
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("konverge up starts a real node in it, and after down nothing is left", async (t) => {
    await buildExecutable();
    const given = ["kubelet", "kube-proxy", "kubectl", "pause.tar"].map((name) => [name, built(name)]);
    await using machine = await VirtualMachine.start({
      files: { ...Object.fromEntries(given), konverge: EXECUTABLE, "busybox.tar": await debianArchive(busybox) },
      script: OWN_NODE,
    });
    const code = await machine.exitCode();
    assert.equal(code, 0, machine.lines.slice(-40).join("\n"));
    assert.ok(machine.lines.includes(`memory.max ${MEMORY}`), machine.lines.slice(-40).join("\n"));
    for (const line of machine.lines.filter((line) => line.startsWith("took "))) t.diagnostic(line);
  });
});

type Context = Parameters<NonNullable<Parameters<typeof test>[0]>>[0];

async function joins(t: Context, folder: string, files: { kubeconfig: string; bootstrap: string }): Promise<void> {
  const [, authority = ""] =
    /certificate-authority-data"?: "?([\w+/=]+)/.exec(readFileSync(files.bootstrap, "utf8")) ?? [];
  writeFileSync(join(folder, "ca.crt"), Buffer.from(authority, "base64"));
  const given = ["kubelet", "kube-proxy", "pause.tar"].map((name) => [name, built(name)]);
  await using machine = await VirtualMachine.start({
    tap: TAP,
    files: {
      ...Object.fromEntries(given),
      "ca.crt": join(folder, "ca.crt"),
      "bootstrap.kubeconfig": files.bootstrap,
      "busybox.tar": await debianArchive(busybox),
    },
    script: OWN_KUBELET,
  });
  await using client = await connect({ kubeconfig: files.kubeconfig });
  try {
    const ready = () =>
      until("the node is ready", 300, async () => {
        const { status } = await client.get(Node, "other");
        return status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") || undefined;
      });
    t.diagnostic(`ready ${await timed(ready)} s after the machine was switched on`);
    const { spec, status } = await client.get(Node, "other");
    t.diagnostic(`kernel ${status?.nodeInfo?.kernelVersion}, ${status?.nodeInfo?.containerRuntimeVersion}`);
    assert.equal(spec?.podCIDR, PODS.replace("/16", "/24"));
    const labels = { app: "web" };
    const serve =
      "mkdir /tmp/www && echo from another machine > /tmp/www/index.html && httpd -f -v -p 8080 -h /tmp/www";
    const limits = { memory: String(MEMORY) };
    const container = { name: "web", image: busybox.name, command: ["sh", "-c", serve], resources: { limits } };
    await client.create(Pod, {
      metadata: { namespace: "default", name: "web", labels },
      spec: { containers: [container] },
    });
    const ports = [{ port: 80, targetPort: 8080 }];
    await client.create(Service, {
      metadata: { namespace: "default", name: "web" },
      spec: { selector: labels, ports },
    });
    await until("the pod runs", 120, async () => {
      const found = await client.get(Pod, "default/web");
      return found.status?.phase === "Running" || undefined;
    });
    const exec = async (...command: string[]) =>
      (await (await client.exec("default/web", command)).output()).stdout.trim();
    assert.equal(await exec("cat", "/sys/fs/cgroup/memory.max"), String(MEMORY));
    const { spec: service } = await client.get(Service, "default/web");
    const answer = await until(
      "the Service answers",
      60,
      async () => (await exec("wget", "-q", "-O-", `http://${service?.clusterIP}/`)) || undefined,
    );
    assert.equal(answer, "from another machine");
    const log = await Array.fromAsync(client.logs("default/web"));
    assert.ok(
      log.some((line) => line.includes("response:200")),
      log.join("\n"),
    );
  } catch (error) {
    throw new Error(`${error}\n${machine.lines.slice(-40).join("\n")}`, { cause: error });
  }
}

/** What the guide says under "Use your own kubelet", with containerd and the plugins of Debian. */
const OWN_KUBELET = `set -eu
hostname other
ip address add ${GUEST}/24 dev eth0
ip link set eth0 up
ip route add default via ${HOST}
modprobe br_netfilter
echo 1 > /proc/sys/net/ipv4/ip_forward
mkdir -p /etc/cni/net.d /opt/cni /etc/containerd
ln -s /usr/lib/cni /opt/cni/bin
cat > /etc/cni/net.d/10-bridge.conflist <<'END'
{ "cniVersion": "0.4.0", "name": "pods", "plugins": [
  { "type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": true, "hairpinMode": true,
    "ipam": { "type": "host-local", "ranges": [[{ "subnet": "10.219.0.0/24" }]], "routes": [{ "dst": "0.0.0.0/0" }] } },
  { "type": "portmap", "capabilities": { "portMappings": true } } ] }
END
cat > /root/kubelet.yaml <<'END'
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: { x509: { clientCAFile: /machine/ca.crt } }
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
END
containerd > /dev/null 2> /root/containerd.log &
until [ -S /run/containerd/containerd.sock ]; do sleep 0.2; done
for image in pause busybox; do ctr --namespace k8s.io images import /machine/$image.tar; done
ctr --namespace k8s.io images tag registry.k8s.io/pause:3.10.1 "$(containerd config default | sed -n 's/.*sandbox_image = "\\(.*\\)"/\\1/p')" || true
cd /root
/machine/kubelet --config kubelet.yaml --bootstrap-kubeconfig /machine/bootstrap.kubeconfig --kubeconfig kubelet.kubeconfig 2> kubelet.log &
until [ -e kubelet.kubeconfig ]; do sleep 1; tail -n 1 kubelet.log; done
/machine/kube-proxy --kubeconfig kubelet.kubeconfig --cluster-cidr ${PODS} 2> kube-proxy.log &
while :; do sleep 20; tail -n 2 kubelet.log kube-proxy.log; done
`;

const OWN_NODE = `set -eu
mkdir -p /root/.cache/konverge/real
ln -s /machine /root/.cache/konverge/real/${basename(nodeCacheFolder())}
export PATH=$PATH:/machine KUBECONFIG=/root/kubeconfig
traces() { ip -o link | sed 's/^[0-9]*: //; s/[@:].*//'; ip route; iptables-save | grep '^-A' || true; find /sys/fs/cgroup -type d; cat /proc/sys/net/ipv4/ip_forward; }
traces > /root/before
took() { echo "took $(( $(date +%s) - begun )) s: $1"; begun=$(date +%s); }
begun=$(date +%s)
konverge up --real-nodes 1 --kubeconfig $KUBECONFIG --background
took "konverge up --real-nodes 1"
kubectl get nodes -o wide
konverge image load /machine/busybox.tar
cat > /root/pod.yaml <<'END'
apiVersion: v1
kind: Pod
metadata: { name: limited }
spec:
  containers:
    - name: limited
      image: ${busybox.name}
      command: [sleep, "1000"]
      resources: { limits: { memory: "${MEMORY}", cpu: 500m } }
END
kubectl create --validate=false -f /root/pod.yaml
kubectl wait --for=condition=Ready pod/limited --timeout=300s
took "a pod"
echo "memory.max $(kubectl exec limited -- cat /sys/fs/cgroup/memory.max)"
konverge down
took "konverge down"
traces > /root/after
diff /root/before /root/after
`;
