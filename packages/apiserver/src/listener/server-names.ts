/** The names under which clients inside and outside a cluster reach its API server on this machine. */
export const SERVER_NAMES: readonly string[] = [
  "localhost",
  "127.0.0.1",
  "::1",
  "kubernetes",
  "kubernetes.default",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
];
