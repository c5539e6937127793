/**
 * Operators without code: declarations that become controllers while the operator runs.
 *
 * A ResourceGraphDefinition of kro is processed in three steps. `kro/compile-graph.ts` checks it and compiles its expressions, with
 * the types of the kinds that it is made of. `kro/graph-controller.ts` installs the kind that it describes, and returns the
 * controller of its instances as part of the desired state. `kro/resolve-graph.ts` decides for one instance which objects there
 * are to be, from what exists; the runtime applies them as children, as for any other controller.
 *
 * A Helm chart becomes an operator when it is loaded. `helm/rendered-kinds.ts` reads which kinds its templates can render,
 * `helm/engine` renders a release with Helm's own engine, and `helm/plan-release.ts` decides which of the objects there are to be
 * now, hooks included.
 *
 * A KUDO package is an OperatorVersion in the cluster. `kudo/version-controller.ts` runs the controller of its instances,
 * `kudo/instance-schedule.ts` decides which plan is due, and `kudo/run-plan.ts` runs its tasks, whose objects are children.
 *
 * What it promises: nothing is applied of a graph that is wrong; an object whose desired state is not known yet stays as it is; what
 * a graph no longer has is deleted in reverse order.
 */

export { type HelmOperatorOptions, helmOperator } from "./helm/operator.ts";
export { type KindLookup, type KnownKind, kindsOf } from "./kinds/known-kinds.ts";
export { compileGraph } from "./kro/compile-graph.ts";
export type { Graph, GraphNode } from "./kro/graph.ts";
export { GraphError, type GraphMistake } from "./kro/graph-error.ts";
export { graphsFromYaml, type KroOperatorOptions, kroOperator } from "./kro/operator.ts";
export { ResourceGraphDefinition } from "./kro/resource-graph-definition.ts";
export { Instance, KudoOperator, OperatorVersion } from "./kudo/kudo-kinds.ts";
export { type KudoOperatorOptions, kudoOperator } from "./kudo/operator.ts";
export { type KudoPackage, readKudoPackage } from "./kudo/read-package.ts";
