/**
 * Kubernetes' own conformance specs, run against the embedded cluster, against its control plane with real nodes, or against a
 * real control plane with simulated nodes as the yardstick.
 *
 * `e2e.test` is built from the published module, unchanged ({@link prepare}); its dry run names the specs
 * ({@link listSpecs}); each spec runs in a process of its own with a time limit ({@link runSpecs}), those marked [Serial]
 * alone. A spec counts as passed only when Ginkgo says that it ran and passed. The names of those that pass are committed
 * in passing/ (the embedded cluster), nodes/ (real nodes) and yardstick/ (the real control plane), so that one which stops
 * passing is noticed.
 *
 * Nothing in the cluster knows that it is being tested: no image, command or name of these specs occurs in it. The test images
 * are our own re-implementations (images/), on real nodes Kubernetes' own programs and Debian's (node-images.ts): that a spec
 * passes is no certified conformance. Results that took a second try are counted in every summary line.
 */
export { type Binaries, prepare } from "./binaries.ts";
export { type ListName, listedSigs, readList, type SpecList, sampleOf, writeList } from "./lists.ts";
export { heldOutText, reportText, sumText } from "./report.ts";
export type { SpecResult, SpecRun } from "./run-spec.ts";
export { runSpecs } from "./run-specs.ts";
export { CONFORMANCE, HELD_OUT, listImages, listSpecs, type Spec, type SpecFilter } from "./specs.ts";
export { embeddedTarget, realNodesTarget, realTarget, type Target } from "./target.ts";
