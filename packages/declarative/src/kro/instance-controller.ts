/** The controller of the instances of a graph. */
import {
  type AnyObject,
  type Conditions,
  conditionFalse,
  conditionTrue,
  type KindRef,
  type KubeObject,
} from "@konverge/core";
import {
  type Child,
  type ChildrenOutcome,
  type Controller,
  controller,
  ownedKind,
  type PlannedChild,
  plannedChild,
  type ReconcileContext,
  type WatchedKind,
  watchKind,
} from "@konverge/runtime";
import { builtinKind } from "../kinds/known-kinds.ts";
import { ExternalReferences, kindsIn } from "./external-references.ts";
import type { Graph } from "./graph.ts";
import { NODE_LABEL } from "./labels.ts";
import { type Existing, type NodeResult, type Resolved, resolveGraph } from "./resolve-graph.ts";

/** An annotation of instances that suspends their reconciliation. */
const SUSPENDED = "kro.run/reconcile";

/** The controller of the instances of a graph: each node's objects are children of the instance. */
export function instanceController(graph: Graph): Controller {
  const references = new ExternalReferences();
  const { made, read } = kindsIn(graph);
  return controller(
    graph.kind as KindRef<AnyObject>,
    {
      finalizer: "kro.run/finalizer",
      teardown: "ordered",
      // Objects may be in other namespaces, or in none, where an owner reference cannot reach.
      owns: made.map((kind) =>
        ownedKind(kind, { by: "label", adopt: "any", ...(isOptional(kind) && { optional: true }) }),
      ),
      watches: read.map(
        (kind): WatchedKind<AnyObject> =>
          watchKind(kind, {
            to: (object: KubeObject) => references.readersOf(kind, object),
            ...(isOptional(kind) && { optional: true }),
          }),
      ),
      reconcile(instance: AnyObject, context: ReconcileContext) {
        if (/^(suspended|disabled)$/i.test(instance.metadata.annotations?.[SUSPENDED] ?? "")) return suspended();
        const resolved = resolveGraph(graph, instance, references.noting(existingIn(context), instance));
        return {
          children: childrenOf(resolved),
          report: (outcome: ChildrenOutcome) => reportOf(resolved, outcome),
        };
      },
    } as never,
  );
}

/** Kinds that have a definition may go; Kubernetes' own do not. */
function isOptional({ group, version, kind }: KindRef<KubeObject>): boolean {
  return builtinKind(group === "" ? version : `${group}/${version}`, kind) === undefined;
}

function existingIn({ observed, cache }: ReconcileContext): Existing {
  return {
    own: ({ id, kind }) => observed.all(kind).filter(({ metadata }) => metadata.labels?.[NODE_LABEL] === id),
    external: ({ kind }, name, namespace) => cache.get(kind, namespace ? `${namespace}/${name}` : name),
    externals: ({ kind }, namespace) => cache.list(kind, namespace),
  };
}

/** The objects of all nodes. Those of a node come after those that it reads, and go before them. */
function childrenOf({ nodes }: Resolved): PlannedChild[] {
  const drafts = new Map<string, readonly Child[]>();
  return nodes.flatMap(({ node, desired, unchanged }) => {
    const after = node.dependencies.flatMap((id) => drafts.get(id) ?? []);
    drafts.set(node.id, desired as readonly Child[]);
    return [
      // Whether a node is ready has been decided: its own conditions count, and those that wait for it have not been returned.
      ...desired.map((draft) => plannedChild(draft as Child, { after, readyWhen: () => true, onRefused: "report" })),
      ...unchanged.map((object) => plannedChild(nameOf(object), { unchanged: true })),
    ];
  });
}

const nameOf = ({ apiVersion, kind, metadata: { name, namespace } }: KubeObject) =>
  ({ apiVersion, kind, metadata: { name, ...(namespace && { namespace }) } }) as Child;

const MANAGED = {
  InstanceManaged: conditionTrue("Managed", "instance is properly managed with finalizers and labels"),
  GraphResolved: conditionTrue("Resolved", "runtime graph created and all resources resolved"),
  // The graph says when an instance is ready, not the state of its objects.
  Progressing: undefined,
  Degraded: undefined,
  Reconciling: undefined,
  Stalled: undefined,
};

function suspended() {
  const ResourcesReady = conditionFalse(
    "ReconciliationSuspended",
    `reconciliation suspended via ${SUSPENDED} annotation`,
  );
  return { conditions: { ...MANAGED, ResourcesReady, Ready: ResourcesReady } };
}

/** The status that follows from the nodes, and from what the API server refused. */
function reportOf(
  { nodes, status }: Resolved,
  { refused }: ChildrenOutcome,
): { status: object; conditions: Conditions } {
  const problems = nodes.map((result) => problemOf(result, refused)).filter((problem) => problem !== undefined);
  const errors = problems.filter(({ isError }) => isError);
  const message = (errors.length > 0 ? errors : problems).map(({ message }) => message).join("; ");
  const state = errors.length > 0 ? "ERROR" : problems.length > 0 ? "IN_PROGRESS" : "ACTIVE";
  const ResourcesReady =
    problems.length === 0
      ? conditionTrue("AllResourcesReady", "all resources are created and ready")
      : conditionFalse(
          "NotReady",
          `${errors.length > 0 ? "resource error" : "awaiting resource readiness"}: ${message}`,
        );
  const Ready = problems.length === 0 ? conditionTrue("Ready", "") : ResourcesReady;
  return { status: { ...status, state }, conditions: { ...MANAGED, ResourcesReady, Ready } };
}

function problemOf({ node, state, message, desired }: NodeResult, refused: ChildrenOutcome["refused"]) {
  const refusal = refused.find(({ child }) => desired.includes(child));
  if (refusal) return { isError: true, message: `${node.id}: ${refusal.message}` };
  if (state === "ready" || state === "skipped") return undefined;
  return { isError: state === "error", message: `${node.id}: ${message}` };
}
