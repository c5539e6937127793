import { readFileSync } from "node:fs";
import type { NodePrograms } from "./prerequisites.ts";

/** Where a node finds its folder. Its own /run, which is empty when it starts, keeps what must not be visible outside. */
export const INSIDE = "/run/konverge";
/** Where it finds the folder of its local volumes. */
export const VOLUMES = "/var/lib/konverge/volumes";
/** Pods are put together around this image. */
export const PAUSE_IMAGE = "registry.k8s.io/pause:3.10.1";
const CAP_SYS_RESOURCE = 24;

/** What the files of a node are made from. */
export interface NodeDescription {
  readonly name: string;
  readonly address: string;
  /** Its control group, from the root. */
  readonly group: string;
  readonly clusterCidr: string;
  readonly clusterDns: string;
}

/** The configuration of containerd, in the form that versions 1.6 to 2 read. */
export function containerdConfig({ plugins, runtime }: NodePrograms): string {
  return `version = 2
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs"]
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  # A profile would stay in the kernel when the node is gone.
  disable_apparmor = true
  restrict_oom_score_adj = ${!mayLowerOomScores()}
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${plugins}"
    conf_dir = "${INSIDE}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "${runtime}"
        SystemdCgroup = false
`;
}

/** Whether processes may be protected from the kernel's out-of-memory killer: not in every container or virtual machine. */
function mayLowerOomScores(): boolean {
  const bits = /^CapEff:\t([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  return ((BigInt(`0x${bits}`) >> BigInt(CAP_SYS_RESOURCE)) & 1n) === 1n;
}

/** The configuration of the kubelet. Nodes share the disk of the machine: pods are not evicted before it is nearly full. */
export function kubeletConfig({ address, group, clusterDns }: NodeDescription): string {
  return `${JSON.stringify(
    {
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: true },
        x509: { clientCAFile: `${INSIDE}/ca.crt` },
      },
      authorization: { mode: "Webhook" },
      rotateCertificates: true,
      address,
      healthzPort: 0,
      containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
      cgroupDriver: "cgroupfs",
      cgroupRoot: `/${group}`,
      failCgroupV1: false,
      failSwapOn: false,
      evictionHard: { "memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
      // What was loaded from a file cannot be pulled again.
      imageGCHighThresholdPercent: 100,
      resolvConf: `${INSIDE}/resolv.conf`,
      volumePluginDir: "/var/lib/kubelet/volume-plugins",
      clusterDNS: [clusterDns],
      clusterDomain: "cluster.local",
    },
    undefined,
    2,
  )}\n`;
}

/** The configuration of kube-proxy. It uses the kubelet's credentials; the limits of connection tracking are the machine's. */
export function kubeProxyConfig({ name, clusterCidr }: NodeDescription): string {
  return `${JSON.stringify(
    {
      apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
      kind: "KubeProxyConfiguration",
      clientConnection: { kubeconfig: "/var/lib/kubelet/kubeconfig" },
      hostnameOverride: name,
      mode: "iptables",
      clusterCIDR: clusterCidr,
      healthzBindAddress: "127.0.0.1:10256",
      metricsBindAddress: "127.0.0.1:10249",
      conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
    },
    undefined,
    2,
  )}\n`;
}

/**
 * How pods are connected: each by its own link, so that everything they send is routed, and subject to kube-proxy's
 * rules.
 */
export function cniConfig(podCidr: string, mtu: number): string {
  const ipam = {
    type: "host-local",
    ranges: [[{ subnet: podCidr }]],
    routes: [{ dst: "0.0.0.0/0" }],
  };
  const plugins = [
    { type: "ptp", mtu, ipMasq: false, ipam },
    { type: "portmap", capabilities: { portMappings: true } },
  ];
  return `${JSON.stringify({ cniVersion: "0.4.0", name: "konverge", plugins }, undefined, 2)}\n`;
}

/** The name servers that a node uses itself: those of the machine, but for ones that only the machine's own network has. */
export function resolverConfig(): string {
  const files = ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"];
  const texts = files.map((file) => {
    try {
      return readFileSync(file, "utf8");
    } catch {
      return "";
    }
  });
  const reachable = texts.find((text) => serversIn(text).length > 0) ?? "";
  return reachable
    .split("\n")
    .filter((line) => !line.startsWith("nameserver") || serversIn(line).length > 0)
    .join("\n");
}

function serversIn(text: string): string[] {
  const servers = [...text.matchAll(/^nameserver\s+(\S+)/gm)].map(([, server]) => server!);
  return servers.filter((server) => !server.startsWith("127.") && server !== "::1");
}
