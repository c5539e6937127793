import type { RealClusterOptions } from "./options.ts";

/** Where things of one cluster are: ports and absolute paths of files. */
export interface Layout {
  folder: string;
  /** Where the API server listens. */
  address: string;
  ports: { etcd: number; etcdPeer: number; apiServer: number };
  files: Record<FileName, string>;
}

export type FileName =
  | "ca.crt"
  | "ca.key"
  | "apiserver.crt"
  | "apiserver.key"
  | "proxy-ca.crt"
  | "proxy.crt"
  | "proxy.key"
  | "kubelet-client.crt"
  | "kubelet-client.key"
  | "sa.key"
  | "sa.pub"
  | "tokens.csv"
  | "kubeconfig"
  | "scheduler.yaml"
  | "audit-policy.yaml";

const SERVICE_ADDRESSES = "10.96.0.0/16";

export function etcdFlags({ folder, ports }: Layout): string[] {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return [
    "--name=konverge",
    `--data-dir=${folder}/etcd`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=konverge=${peer}`,
    "--unsafe-no-fsync", // data outlives a killed process, not a power failure: enough for a test, and much faster
    "--log-level=warn",
  ];
}

export function apiServerFlags({ address, ports, files }: Layout, options: RealClusterOptions): string[] {
  // Without the controller manager there are no service accounts, so pods could not be created with this plugin on.
  const isWanted = options.controllers || options.admissionPlugins?.includes("ServiceAccount");
  const disabled = isWanted ? [] : ["ServiceAccount"];
  const audit = options.auditLog
    ? [`--audit-log-path=${options.auditLog}`, `--audit-policy-file=${files["audit-policy.yaml"]}`]
    : [];
  const plugins = [...(options.nodes ? ["NodeRestriction"] : []), ...(options.admissionPlugins ?? [])];
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    `--bind-address=${address}`,
    `--secure-port=${ports.apiServer}`,
    `--advertise-address=${address}`,
    // A loopback address is no valid endpoint, so nothing must try to publish it.
    ...(options.nodes ? nodeFlags(files) : ["--endpoint-reconciler-type=none"]),
    `--tls-cert-file=${files["apiserver.crt"]}`,
    `--tls-private-key-file=${files["apiserver.key"]}`,
    `--client-ca-file=${files["ca.crt"]}`,
    `--token-auth-file=${files["tokens.csv"]}`,
    "--authorization-mode=Node,RBAC",
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${files["sa.pub"]}`,
    `--service-account-signing-key-file=${files["sa.key"]}`,
    `--service-cluster-ip-range=${SERVICE_ADDRESSES}`,
    `--requestheader-client-ca-file=${files["proxy-ca.crt"]}`,
    "--requestheader-allowed-names=front-proxy-client",
    "--requestheader-username-headers=X-Remote-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    `--proxy-client-cert-file=${files["proxy.crt"]}`,
    `--proxy-client-key-file=${files["proxy.key"]}`,
    "--allow-privileged=true",
    "--profiling=false",
    ...(disabled.length > 0 ? [`--disable-admission-plugins=${disabled.join(",")}`] : []),
    ...(plugins.length > 0 ? [`--enable-admission-plugins=${plugins.join(",")}`] : []),
    ...audit,
    ...(options.extraApiServerFlags ?? []),
  ];
}

/**
 * How the API server knows new nodes, and kubelets the API server. The machine is no node: it cannot resolve the names of nodes,
 * and reaches pods, but not the addresses of Services.
 */
function nodeFlags(files: Layout["files"]): string[] {
  return [
    "--enable-bootstrap-token-auth=true",
    `--kubelet-client-certificate=${files["kubelet-client.crt"]}`,
    `--kubelet-client-key=${files["kubelet-client.key"]}`,
    "--kubelet-preferred-address-types=InternalIP",
    "--enable-aggregator-routing=true",
  ];
}

export function controllerManagerFlags({ files }: Layout, { nodes }: RealClusterOptions): string[] {
  const ranges = nodes && [`--cluster-cidr=${nodes.clusterCidr}`, `--service-cluster-ip-range=${SERVICE_ADDRESSES}`];
  return [
    ...(ranges ? ["--allocate-node-cidrs=true", ...ranges] : []),
    `--kubeconfig=${files.kubeconfig}`,
    "--leader-elect=false",
    "--secure-port=0",
    "--use-service-account-credentials=false",
    `--root-ca-file=${files["ca.crt"]}`,
    `--service-account-private-key-file=${files["sa.key"]}`,
    `--cluster-signing-cert-file=${files["ca.crt"]}`,
    `--cluster-signing-key-file=${files["ca.key"]}`,
    "--kube-api-qps=1000",
    "--kube-api-burst=2000",
  ];
}

export function schedulerFlags({ files }: Layout): string[] {
  return [`--config=${files["scheduler.yaml"]}`, "--secure-port=0"];
}

export function kwokFlags({ files }: Layout, stages: string[]): string[] {
  return [
    `--kubeconfig=${files.kubeconfig}`,
    "--manage-all-nodes=true",
    "--node-lease-duration-seconds=40",
    "--server-address=127.0.0.1:0",
    ...stages.map((path) => `--config=${path}`),
  ];
}

export function schedulerConfiguration(kubeconfig: string): object {
  return {
    apiVersion: "kubescheduler.config.k8s.io/v1",
    kind: "KubeSchedulerConfiguration",
    clientConnection: { kubeconfig, qps: 1000, burst: 2000 },
    leaderElection: { leaderElect: false },
  };
}

export const auditPolicy = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] };

export function kubeconfigObject(url: string, ca: string, client: { cert: string; key: string }): object {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "real", cluster: { server: url, "certificate-authority-data": base64(ca) } }],
    users: [
      {
        name: "admin",
        user: { "client-certificate-data": base64(client.cert), "client-key-data": base64(client.key) },
      },
    ],
    contexts: [{ name: "real", context: { cluster: "real", user: "admin" } }],
    "current-context": "real",
  };
}
