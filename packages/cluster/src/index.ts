/**
 * A Kubernetes cluster in one process: the embedded API server, the built-in controllers (ordinary Konverge controllers)
 * and simulated nodes on which pods run without containers.
 */
export * from "./start-cluster.ts";
