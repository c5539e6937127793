import type { Client } from "@konverge/client";
import { groupKindText, type KindRef, type KubeObject, keyOf, parseApiVersion } from "@konverge/core";
import type { Child } from "../apply/child.ts";
import type { Children } from "../apply/children.ts";
import type { CacheView } from "../cache/view.ts";
import type { CacheReader, ObservedChildren, ReconcileContext } from "../definition/definition.ts";
import type { CachedReads } from "./cached-reads.ts";
import type { ReconcileTimes } from "./due-times.ts";
import type { Wiring } from "./wiring.ts";

/** What a reconciler is given for one object in one reconcile. */
export function contextFor(
  { definition, children, reads, events, log, cluster, views }: Wiring,
  object: KubeObject,
  pass: {
    client: Client;
    signal: AbortSignal;
    times: ReconcileTimes;
    /** The clients of all clusters, held to the same limits. */
    clusters: () => ReadonlyMap<string, Client>;
    /** Called when the reconciler is about to read something other than its object. */
    looks: () => void;
  },
): ReconcileContext {
  const { signal, looks } = pass;
  const looking = <R>(at: R): R => {
    looks();
    return at;
  };
  return {
    get observed() {
      return looking(observedBy(children, object));
    },
    get cache() {
      return looking(cacheReader(reads));
    },
    get client() {
      return looking(pass.client);
    },
    get tenantClient() {
      const client = looking(pass.client);
      const identity = definition.options.impersonate?.(object);
      return identity ? client.as(identity) : client;
    },
    events: events.about(object),
    callExternal: async (_name, work) => await work(),
    isDue: (name, rhythm) => pass.times.isDue(name, rhythm),
    isServed: (kind) => looking(isServedIn(views, kind, definition.name)),
    controllerState: (name) =>
      looking(cluster.dynamic.stateOf({ controller: definition.name, key: keyOf(object) }, name)),
    signal,
    get log() {
      return log.child({ object: keyOf(object) });
    },
    clock: cluster.clock,
    cluster: cluster.name,
    get clusters() {
      return looking(pass.clusters());
    },
  };
}

function isServedIn(views: readonly CacheView<KubeObject>[], kind: KindRef<KubeObject>, controller: string): boolean {
  const declared = views.filter((view) => groupKindText(view.kind) === groupKindText(kind));
  if (declared.length > 0) return declared.every((view) => view.isServed);
  throw new TypeError(`${controller}: isServed(${kind.kind}): ${kind.kind} is neither in \`owns\` nor in \`watches\``);
}

/** Its methods can be used without the object. */
const cacheReader = (reads: CachedReads): CacheReader => ({
  get: (kind, key) => reads.get(kind, key),
  list: (kind, namespace) => reads.list(kind, namespace),
  find: (kind, index, value) => reads.find(kind, index, value),
});

function observedBy(children: Children, owner: KubeObject): ObservedChildren {
  const one = (what: Child | KindRef<KubeObject>, name?: string) =>
    children.observed(owner, childPlace(children, owner, what, name));
  return Object.assign(one, {
    all: (kind: KindRef<KubeObject>) => children.all(owner, kind),
  }) as unknown as ObservedChildren;
}

/** The place of the child that `observed(draft)` or `observed(Kind, name)` asks for. */
export function childPlace(children: Children, owner: KubeObject, what: Child | KindRef<KubeObject>, name?: string) {
  const draft = name === undefined ? (what as Child) : undefined;
  const kind = draft
    ? { group: parseApiVersion(draft.apiVersion).group, kind: draft.kind }
    : (what as KindRef<KubeObject>);
  return children.place(owner, kind, draft?.metadata.name ?? name ?? "", draft?.metadata.namespace);
}
