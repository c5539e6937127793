/**
 * Where the API server is in the simulated network: beside the nodes, whose addresses end differently. A port that others
 * than this machine can reach takes its place.
 */
export const CONTROL_PLANE = { ip: "172.18.0.2", port: 6443 };
