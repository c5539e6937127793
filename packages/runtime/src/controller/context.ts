import type { Client } from "@konverge/client";
import { type KindRef, type KubeObject, keyOf, parseApiVersion } from "@konverge/core";
import type { Child } from "../apply/child.ts";
import type { Children } from "../apply/children.ts";
import type { CacheReader, ObservedChildren, ReconcileContext } from "../definition/definition.ts";
import type { EventSink } from "../events/event-sink.ts";
import type { CacheQuery, ReconcileObserver } from "../observe/observer.ts";
import type { CachedReads } from "./cached-reads.ts";
import type { ReconcileTimes } from "./due-times.ts";
import { toldClock } from "./told-clock.ts";
import type { Wiring } from "./wiring.ts";

/** What a reconciler is given for one object in one reconcile. */
export function contextFor(
  { definition, children, reads, events, log, cluster }: Wiring,
  object: KubeObject,
  pass: {
    client: Client;
    signal: AbortSignal;
    observer?: ReconcileObserver | undefined;
    times: ReconcileTimes;
    /** The clients of all clusters, held to the same limits. */
    clusters: () => ReadonlyMap<string, Client>;
    /** Called when the reconciler is about to read something other than its object. */
    looks: () => void;
  },
): ReconcileContext {
  const { signal, observer, looks } = pass;
  const looking = <R>(at: R): R => {
    looks();
    return at;
  };
  return {
    get observed() {
      return looking(observedBy(children, object, observer));
    },
    get cache() {
      return looking(cacheReader(reads, observer));
    },
    get client() {
      return looking(pass.client);
    },
    get tenantClient() {
      const client = looking(pass.client);
      const identity = definition.options.impersonate?.(object);
      return identity ? client.as(identity) : client;
    },
    events: toldEvents(events.about(object), observer),
    callExternal: (name, work) => outside(name, work, observer),
    isDue(name, rhythm) {
      const isDue = pass.times.isDue(name, rhythm);
      observer?.inputRead?.(`due ${name}`, isDue ? 1 : 0);
      return isDue;
    },
    signal,
    get log() {
      return log.child({ object: keyOf(object) });
    },
    clock: observer?.inputRead ? toldClock(cluster.clock, observer.inputRead.bind(observer)) : cluster.clock,
    cluster: cluster.name,
    get clusters() {
      return looking(pass.clusters());
    },
  };
}

function toldEvents(sink: EventSink, observer: ReconcileObserver | undefined): EventSink {
  if (!observer?.eventRecorded) return sink;
  return {
    normal(reason, message, options) {
      observer.eventRecorded?.({ type: "Normal", reason, message });
      sink.normal(reason, message, options);
    },
    warning(reason, message, options) {
      observer.eventRecorded?.({ type: "Warning", reason, message });
      sink.warning(reason, message, options);
    },
  };
}

async function outside<R>(name: string, work: () => Promise<R>, observer: ReconcileObserver | undefined): Promise<R> {
  const ended = observer?.externalCall?.(name);
  try {
    const value = await work();
    ended?.({ value });
    return value;
  } catch (error) {
    ended?.({ error });
    throw error;
  }
}

function observedBy(children: Children, owner: KubeObject, observer: ReconcileObserver | undefined): ObservedChildren {
  const one = (what: Child | KindRef<KubeObject>, name?: string) => {
    const draft = name === undefined ? (what as Child) : undefined;
    const kind = draft
      ? { group: parseApiVersion(draft.apiVersion).group, kind: draft.kind }
      : (what as KindRef<KubeObject>);
    const place = children.place(owner, kind, draft?.metadata.name ?? name ?? "", draft?.metadata.namespace);
    const child = children.observed(owner, place);
    observer?.objectRead?.(place.owned.declared.kind, place.key, child);
    return child;
  };
  const all = (kind: KindRef<KubeObject>) => {
    const found = children.all(owner, kind);
    for (const child of found) observer?.objectRead?.(kind, keyOf(child), child);
    observer?.listed?.({ kind, children: true }, found);
    return found;
  };
  return Object.assign(one, { all }) as unknown as ObservedChildren;
}

function cacheReader(reads: CachedReads, observer: ReconcileObserver | undefined): CacheReader {
  const seen = <T extends KubeObject>(query: Omit<CacheQuery, "kind">, kind: KindRef<T>, objects: T[]) => {
    const known = kind as unknown as KindRef<KubeObject>;
    for (const object of objects) observer?.objectRead?.(known, keyOf(object), object);
    observer?.listed?.({ ...query, kind: known }, objects);
    return objects;
  };
  return {
    get(kind, key) {
      const object = reads.get(kind, key);
      observer?.objectRead?.(kind as unknown as KindRef<KubeObject>, key, object);
      return object;
    },
    list: (kind, namespace) => seen({ ...(namespace && { namespace }) }, kind, reads.list(kind, namespace)),
    find: (kind, index, value) => seen({ index, value }, kind, reads.find(kind, index, value)),
  };
}
