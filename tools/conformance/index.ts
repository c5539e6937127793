/**
 * Kubernetes' own conformance specs, run against the embedded cluster, against its control plane with real nodes, or against a
 * real control plane with simulated nodes as the reference.
 *
 * `e2e.test` is built from the published module, unchanged ({@link prepare}); its dry run lists the specs
 * ({@link listSpecs}); each spec runs in a separate process with a time limit ({@link runSpecs}), those marked [Serial]
 * alone. A spec counts as passed only when Ginkgo reports that it ran and passed. The names of passing specs are committed
 * in `passing/` (the embedded cluster), `nodes/` (real nodes) and `yardstick/` (the real control plane), so that a regression
 * is noticed.
 *
 * Nothing in the cluster knows that it is being tested: it contains no image, command or name of these specs. The test images
 * are our own re-implementations (`images/`), on real nodes Kubernetes' own programs and Debian's (`node-images.ts`): a passing
 * spec is no certified conformance. Results that needed a retry are counted in every summary line.
 */
export { type Binaries, prepare } from "./binaries.ts";
export { type ListName, listedSigs, readList, type SpecList, sampleOf, writeList } from "./lists.ts";
export { heldOutText, reportText, sumText } from "./report.ts";
export type { SpecResult, SpecRun } from "./run-spec.ts";
export { runSpecs } from "./run-specs.ts";
export { CONFORMANCE, HELD_OUT, listImages, listSpecs, type Spec, type SpecFilter } from "./specs.ts";
export { embeddedTarget, realNodesTarget, realTarget, type Target } from "./target.ts";
