import type { RealClusterOptions } from "./options.ts";

/** Where things of one cluster are: ports and absolute paths of files. */
export interface Layout {
  folder: string;
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
  | "sa.key"
  | "sa.pub"
  | "tokens.csv"
  | "kubeconfig"
  | "scheduler.yaml"
  | "audit-policy.yaml";

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

export function apiServerFlags({ ports, files }: Layout, options: RealClusterOptions): string[] {
  // Nobody makes service accounts without the controller manager, so pods could not be created with this plugin on.
  const isWanted = options.controllers || options.admissionPlugins?.includes("ServiceAccount");
  const disabled = isWanted ? [] : ["ServiceAccount"];
  const audit = options.auditLog
    ? [`--audit-log-path=${options.auditLog}`, `--audit-policy-file=${files["audit-policy.yaml"]}`]
    : [];
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${ports.apiServer}`,
    // A loopback address is no valid endpoint, so nothing must try to publish it.
    "--advertise-address=127.0.0.1",
    "--endpoint-reconciler-type=none",
    `--tls-cert-file=${files["apiserver.crt"]}`,
    `--tls-private-key-file=${files["apiserver.key"]}`,
    `--client-ca-file=${files["ca.crt"]}`,
    `--token-auth-file=${files["tokens.csv"]}`,
    "--authorization-mode=RBAC",
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${files["sa.pub"]}`,
    `--service-account-signing-key-file=${files["sa.key"]}`,
    "--service-cluster-ip-range=10.96.0.0/16",
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
    ...(options.admissionPlugins?.length ? [`--enable-admission-plugins=${options.admissionPlugins.join(",")}`] : []),
    ...audit,
    ...(options.extraApiServerFlags ?? []),
  ];
}

export function controllerManagerFlags({ files }: Layout): string[] {
  return [
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
