/**
 * Programs of other ecosystems, unmodified, on the embedded cluster.
 *
 * A {@link Peer} is a program as people write it with controller-runtime, kopf, kube-rs, @kubernetes/client-node, or Helm
 * itself: its sources are here, its libraries come from their registries, and `node tools/peers/build.ts` builds it once
 * into a cache folder. {@link onBothServers} then plays the same stories on the embedded cluster and on a real control
 * plane, so that a failure on ours alone is ours. Where a toolchain is missing, or nothing has been built, the stories are
 * skipped with the reason.
 */
export { goEnvironment, goToolchain, PEERS } from "./catalogue.ts";
export { onBothServers, type Scene, type Stories } from "./on-both-servers.ts";
export { buildPeer, type FoundPeer, findPeer, type Peer, step } from "./peer.ts";
export { RunningProgram } from "./program.ts";
export type { Stage } from "./stage.ts";
