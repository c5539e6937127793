/** The controller of ResourceGraphDefinitions: it checks a graph, installs the kind of its instances, and runs their controller. */
import { type Conditions, conditionFalse, conditionTrue, conditionUnknown, type ObjectKey } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import {
  type Controller,
  controller,
  type DynamicControllerState,
  dynamicController,
  isApplied,
  PermanentError,
  permission,
  type ReconcileContext,
  watchKind,
} from "@konverge/runtime";
import { builtinKind, type KindLookup, kindsOf } from "../kinds/known-kinds.ts";
import { breakingChanges } from "./breaking-changes.ts";
import { compileGraph } from "./compile-graph.ts";
import type { Graph } from "./graph.ts";
import { GraphError } from "./graph-error.ts";
import { instanceController } from "./instance-controller.ts";
import { GRAPH_NAME_LABEL } from "./instance-definition.ts";
import { ResourceGraphDefinition } from "./resource-graph-definition.ts";

/** Allows changes of a kind that its instances may not survive. */
const ALLOW_BREAKING = "kro.run/allow-breaking-changes";
const BY_KIND = "byKind";

/** The controller of graphs. `known`: controllers of instances whose permissions its role has. */
export function graphController(known: readonly Controller[] = []): Controller {
  const users = new KindUsers();
  return controller(ResourceGraphDefinition, {
    watches: [
      watchKind(CustomResourceDefinition, {
        to: (crd) => users.of(crd),
        indexes: { [BY_KIND]: ({ spec }: CustomResourceDefinition) => [`${spec?.group}/${spec?.names?.kind}`] },
      }),
    ],
    permissions: [
      permission(CustomResourceDefinition, ["get", "create", "patch"], { why: "installs the kinds of graphs" }),
    ],
    knownControllers: known,
    async reconcile(definition, context) {
      const kinds = users.noting(kindsIn(context), definition.metadata.name!);
      const graph = graphOf(definition, kinds);
      if (graph instanceof GraphError) return inactive(graph);
      const resources = graph.nodes.map(({ id, dependencies }) => ({
        id,
        dependencies: dependencies.map((one) => ({ id: one })),
      }));
      const status = {
        topologicalOrder: graph.nodes.map(({ id }) => id),
        resources: resources.filter(({ dependencies }) => dependencies.length > 0),
      };
      const refusal = await installKind(definition, graph, context);
      if (refusal) return { status: { ...status, state: "Inactive" }, conditions: kindFailed(refusal) };
      const instances = instanceController(graph);
      const running = context.controllerState(instances.name);
      return {
        controllers: [dynamicController(instances, { revision: graph.revision })],
        ...served(status, graph, running),
      };
    },
  });
}

function graphOf(definition: ResourceGraphDefinition, kinds: KindLookup): Graph | GraphError {
  try {
    return compileGraph(definition, kinds);
  } catch (error) {
    if (error instanceof GraphError) return error;
    throw error;
  }
}

const kindsIn =
  ({ cache }: ReconcileContext): KindLookup =>
  (apiVersion, kind) => {
    const found = builtinKind(apiVersion, kind);
    if (found) return found;
    const group = apiVersion.slice(0, apiVersion.lastIndexOf("/"));
    return kindsOf(cache.find(CustomResourceDefinition, BY_KIND, `${group}/${kind}`))(apiVersion, kind);
  };

/** Applies the definition of the instances' kind. Returns why it cannot. */
async function installKind(
  definition: ResourceGraphDefinition,
  { definition: crd }: Graph,
  { cache, client }: ReconcileContext,
): Promise<string | undefined> {
  const name = crd.metadata.name!;
  const live = cache.get(CustomResourceDefinition, name);
  const owner = live?.metadata.labels?.[GRAPH_NAME_LABEL];
  if (live && owner !== definition.metadata.name) {
    const whose = owner ? `the ResourceGraphDefinition ${owner}` : "other software";
    return `the kind ${name} belongs to ${whose}: choose another kind or group`;
  }
  if (live && definition.metadata.annotations?.[ALLOW_BREAKING] !== "true") {
    const breaking = breakingChanges(live, crd);
    if (breaking.length > 0)
      return `instances may not survive this change: ${breaking.join("; ")}. Undo it, or set the annotation ${ALLOW_BREAKING}: "true"`;
  }
  if (isApplied(CustomResourceDefinition, crd, live)) return undefined;
  // Direct write: a graph that is deleted leaves its kind and its instances, so that the kind is not a child.
  await client.apply(CustomResourceDefinition, crd as never, { force: true });
  return undefined;
}

/** The graph is wrong: what runs already keeps running, as for any other change that is refused. */
function inactive(error: GraphError) {
  if (error.mistakes.length === 0) throw new PermanentError("InvalidResourceGraph", error.message);
  const GraphAccepted = conditionFalse("InvalidResourceGraph", error.message);
  return {
    status: { state: "Inactive" },
    controllers: [],
    conditions: { ...WITHDRAWN, GraphAccepted, Ready: GraphAccepted },
  };
}

const WITHDRAWN: Conditions = {
  Progressing: undefined,
  Degraded: undefined,
  Stalled: undefined,
  Reconciling: undefined,
};
const ACCEPTED = conditionTrue("Valid", "resource graph and schema are valid");

function kindFailed(message: string): Conditions {
  const KindReady = conditionFalse("Failed", message);
  return { ...WITHDRAWN, GraphAccepted: ACCEPTED, KindReady, Ready: KindReady };
}

function served(status: object, { kind }: Graph, running: DynamicControllerState | undefined) {
  const isServed = running !== undefined && running.state !== "waiting";
  const isRunning = running?.state === "running";
  const KindReady = isServed
    ? conditionTrue("Ready", `kind ${kind.kind} has been accepted and ready`)
    : conditionUnknown("AwaitingReconciliation", `the kind ${kind.kind} is not served yet`);
  const ControllerReady = isRunning
    ? conditionTrue("Running", "controller is running")
    : running?.message && isServed
      ? conditionFalse("FailedToStart", running.message)
      : conditionUnknown("AwaitingReconciliation", "the controller has not started yet");
  const Ready = !isServed ? KindReady : isRunning ? conditionTrue("Ready", "") : ControllerReady;
  return {
    status: { ...status, state: isRunning ? "Active" : "Inactive" },
    conditions: { ...WITHDRAWN, GraphAccepted: ACCEPTED, KindReady, ControllerReady, Ready },
  };
}

/**
 * Which graphs are made of which kinds, so that a kind that is installed, changed or removed reconciles them. A process that
 * starts reconciles all graphs, and so learns it again.
 */
class KindUsers {
  readonly #graphs = new Map<string, Set<ObjectKey>>();

  /** The same lookup, of which it remembers who has asked. */
  noting(lookup: KindLookup, graph: ObjectKey): KindLookup {
    return (apiVersion, kind) => {
      const what = `${apiVersion.slice(0, apiVersion.lastIndexOf("/"))}/${kind}`;
      const graphs = this.#graphs.get(what);
      if (graphs) graphs.add(graph);
      else this.#graphs.set(what, new Set([graph]));
      return lookup(apiVersion, kind);
    };
  }

  /** The graph that a definition belongs to, and those that are made of its kind. */
  of({ metadata, spec }: CustomResourceDefinition): ObjectKey[] {
    const owner = metadata.labels?.[GRAPH_NAME_LABEL];
    return [...(owner ? [owner] : []), ...(this.#graphs.get(`${spec?.group}/${spec?.names?.kind}`) ?? [])];
  }
}
