/**
 * What one needs to develop an operator and nothing of what runs in production: an embedded Kubernetes, and the tools that
 * prove an operator on it.
 */
export * from "@konverge/apiserver";
export * from "@konverge/cluster";
