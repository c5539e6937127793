/**
 * What one needs to develop an operator and nothing of what runs in production: an embedded Kubernetes, and the tools that
 * prove an operator on it.
 */
export * from "@konverge/apiserver";
export * from "@konverge/cluster";
/** Both packages speak of a kubelet: the one that runs simulated nodes is what users mean. */
export { Kubelet } from "@konverge/cluster";
