/**
 * The console: a page in the browser that shows what operators do.
 *
 * A `History` holds what happened and how each object looked at any time. It is filled from a cluster (watches of all
 * kinds, Events, the logs of operators' pods) or from a recording, and sent to the page as a stream of changes. The
 * page sends its own requests to the API server through the same process, which adds the user's credentials.
 *
 * What it promises: it listens on loopback only and requires the token of its link; the page can do what the user of
 * the kubeconfig can, and nothing else; nothing is loaded from elsewhere; memory is bounded.
 */
export type { EmbeddedCluster, EmbeddedOptions } from "./cluster-controls.ts";
export { type Console, type ConsoleOptions, startConsole } from "./console.ts";
export { type FollowedCluster, followCluster } from "./followed-cluster.ts";
export type { Entry, ObjectSummary } from "./protocol.ts";
