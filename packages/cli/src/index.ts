/**
 * The `konverge` command.
 *
 * `main.ts` puts the commands together; each is a short file in `commands/` that reads its options and calls one function of
 * the folder of the same purpose: `run/` runs operators in a process, `manifests/` writes down what their installation
 * consists of, `chart/` and `bundle/` package it for Helm and OLM, `kind-docs/` describes the kinds, `diff-crd/` compares them with
 * earlier ones, `deploy/` brings an installation to a cluster and takes it away, `up/` starts an embedded cluster, `operator-image/`
 * runs operators in its pods, `demo/` shows all of it at once. What operators need follows from their definitions alone, so nothing is said twice.
 *
 * It promises: doing a thing again changes nothing; what cannot work says why and what to do; Ctrl-C finishes the work in
 * progress.
 */
export { chartFiles } from "./chart/chart-files.ts";
export { type Convergence, convergenceOf } from "./demo/convergence.ts";
export { deploy, undeploy } from "./deploy/deploy.ts";
export { install } from "./deploy/install.ts";
export { uninstall } from "./deploy/uninstall.ts";
export { manifestFiles } from "./manifests/files.ts";
export { type OperatorObjects, operatorObjects } from "./manifests/operator-objects.ts";
export { writeManifests } from "./manifests/write-manifests.ts";
export { type OperatorCatalog, operatorCatalog } from "./operator-image/catalog.ts";
export { OPERATOR_IMAGE, operatorProgram } from "./operator-image/operator-image.ts";
export { chosenOperators, loadOperators } from "./operators/operator-modules.ts";
