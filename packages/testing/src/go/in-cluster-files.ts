/** Where programs find their service account in a pod. */
const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const KUBECONFIG = "/etc/konverge/kubeconfig";
/** The API server's names: that of the kubeconfig, and that of a pod's environment. */
const SERVER = { name: "kubernetes.default.svc", address: "10.96.0.1", port: "443" };

/**
 * Without TLS: client-go then uses Go's default transport, which in the js port is its host's. The token is not read by anyone, but
 * client-go expects one.
 */
const kubeconfig = (namespace: string) => `apiVersion: v1
kind: Config
clusters:
- name: embedded
  cluster: {server: "http://${SERVER.name}"}
users:
- name: operator
  user: {token: embedded}
contexts:
- name: embedded
  context: {cluster: embedded, user: operator, namespace: ${namespace}}
current-context: embedded
`;

/** The files by which a program finds the cluster, whether it reads a kubeconfig or believes to be in a pod. */
export function clusterFiles(namespace: string): Record<string, string> {
  return {
    [KUBECONFIG]: kubeconfig(namespace),
    [`${ACCOUNT}/token`]: "embedded",
    [`${ACCOUNT}/namespace`]: namespace,
  };
}

/** The environment of such a program. */
export function clusterEnvironment(namespace: string, pod: string): Record<string, string> {
  return {
    HOME: "/",
    TMPDIR: "/tmp",
    HOSTNAME: pod,
    POD_NAME: pod,
    POD_NAMESPACE: namespace,
    KUBECONFIG,
    KUBERNETES_SERVICE_HOST: SERVER.address,
    KUBERNETES_SERVICE_PORT: SERVER.port,
  };
}

/** Whether this is the API server's host, as a URL names it. */
export function isApiServer(host: string): boolean {
  return [SERVER.name, SERVER.address, `${SERVER.address}:${SERVER.port}`].includes(host);
}
