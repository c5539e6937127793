/**
 * A real Kubernetes control plane as a test fixture.
 *
 * The embedded cluster must never behave differently from a real API server, so the same tests also run against
 * kube-apiserver itself. `npm run real:build` builds the control plane once from the Go module proxy into a cache
 * folder (or KUBEBUILDER_ASSETS names a folder that has one); `findControlPlane()` says whether it is there;
 * `startRealCluster()` starts it on free loopback ports and takes everything away again, also when the test process
 * is killed.
 *
 * A suite that needs it is skipped with the reason when it is missing; it is never reported as passed:
 *
 * ```ts
 * const plane = findControlPlane();
 * test("on the real thing", { skip: plane.available ? false : plane.why }, async () => {
 *   await using cluster = await startRealCluster({ controllers: true });
 * });
 * ```
 */
export { type DownloadedModule, downloadModule } from "./go-module.ts";
export { type AssetName, type ControlPlane, defaultKubernetesVersion, findControlPlane } from "./locate.ts";
export type { GpuNodes } from "./nodes.ts";
export type { RealClusterOptions } from "./options.ts";
export { type RealCluster, startRealCluster } from "./start.ts";
