/** The address of the Service `kubernetes`. */
const CLUSTER_IP = "10.96.0.1";

/** The names under which clients inside and outside a cluster reach its API server on this machine. */
export const SERVER_NAMES: readonly string[] = [
  "localhost",
  "127.0.0.1",
  "::1",
  CLUSTER_IP,
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
];
