import type { Client } from "@konverge/client";
import type { Clock, KindRef, KubeObject, ObjectKey } from "@konverge/core";
import { labelBond, referenceBond } from "../apply/bond.ts";
import { Children } from "../apply/children.ts";
import { BY_OWNER, type OwnedView } from "../apply/owned-view.ts";
import { StatusWriter } from "../apply/status.ts";
import type { Cache } from "../cache/cache.ts";
import type { CacheView } from "../cache/view.ts";
import { Doubts } from "../calls/doubts.ts";
import type { Controller } from "../definition/definition.ts";
import type { DynamicControllers } from "../definition/dynamic.ts";
import type { WatchedKind } from "../definition/watched.ts";
import { EventRecorder } from "../events/recorder.ts";
import type { Authority } from "../leadership/authority.ts";
import type { Log } from "../log.ts";
import type { ApiCall, Observer } from "../observe/observer.ts";
import { isBuiltIn, schemaOf, statusSchemaOf } from "../schema-of.ts";
import { CachedReads } from "./cached-reads.ts";
import { isDeclared } from "./declared-access.ts";
import { DueTimes } from "./due-times.ts";

/** Where a controller works. */
export interface Cluster {
  readonly name: string;
  readonly client: Client;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly log: Log;
  readonly observer: Observer;
  readonly authority: Authority;
  /** This process, for events. */
  readonly identity: string;
  /** Undefined: all namespaces. */
  readonly namespaces: readonly string[] | undefined;
  /** Its permissions are in these namespaces alone: cluster-scoped kinds cannot be read. */
  readonly namespaced: boolean;
  /** The clients of all clusters, by name. */
  readonly clients: ReadonlyMap<string, Client>;
  /** Their caches, by name. */
  readonly caches: ReadonlyMap<string, Cache>;
  /** The controllers that reconcilers return. */
  readonly dynamic: DynamicControllers;
}

/** What all reconciles of a controller in a cluster share. */
export interface Wiring {
  readonly definition: Controller;
  readonly cluster: Cluster;
  readonly log: Log;
  /** The objects of its own kind. */
  readonly view: CacheView<KubeObject>;
  readonly owned: readonly OwnedView[];
  readonly watched: readonly { declared: WatchedKind; view: CacheView<KubeObject> }[];
  /** All of the above. */
  readonly views: readonly CacheView<KubeObject>[];
  readonly children: Children;
  readonly status: StatusWriter;
  /** Its own kind, and what it has declared besides its children. */
  readonly reads: CachedReads;
  readonly events: EventRecorder;
  readonly times: DueTimes;
  readonly doubts: Doubts;
  /** The keys being reconciled whose result follows from the object alone. */
  readonly selfContained: Set<ObjectKey>;
  /** Whether the permission for a call follows from what the controller declares. */
  readonly isDeclared: (call: ApiCall) => boolean;
}

/** The part of a controller in its manager. */
export interface ControllerRole {
  /** It decides whether its objects are ready, rather than another controller of the same objects. */
  readonly isPrimary: boolean;
  /** Its kind need not be installed. */
  readonly optionalKind?: boolean;
}

/** Declares to the cache all that a controller will read. */
export function wire(definition: Controller, cluster: Cluster, { isPrimary, optionalKind }: ControllerRole): Wiring {
  const { cache, client, clock } = cluster;
  const { name, kind, options } = definition;
  const log = cluster.log.child({ controller: name });
  const namespaces = options.namespaces ?? cluster.namespaces;
  cache.addManager(name);
  const { labelSelector, fieldSelector } = options;
  const optional = optionalKind && !isBuiltIn(kind);
  const view = cache.use(kind, {
    namespaces: reachable({ kind, optional }, namespaces, cluster),
    labelSelector,
    fieldSelector,
    ...(optional && { optional }),
  });
  const owned = definition.owns.map((declared): OwnedView => {
    const bond = declared.by === "label" ? labelBond(kind) : referenceBond(kind);
    const children = cache.use(declared.kind, {
      // Children held by a label may be anywhere.
      namespaces: reachable(declared, declared.by === "label" && !cluster.namespaced ? undefined : namespaces, cluster),
      labelSelector: declared.labelSelector,
      ...(declared.optional && { optional: true }),
      interest: (object) => bond.ownerKey(object) !== undefined,
    });
    children.addIndex(BY_OWNER, bond.ownerUids);
    return { declared, view: children, bond, schema: schemaOf(declared.kind) };
  });
  const watched = (options.watches ?? []).map((declared) => {
    const { project, indexes, ...need } = declared.options;
    const others = cache.use(declared.kind, {
      namespaces: reachable({ kind: declared.kind, ...need }, need.namespaces ?? namespaces, cluster),
      labelSelector: need.labelSelector,
      fieldSelector: need.fieldSelector,
      ...(need.optional && { optional: true }),
      ...(project && { project }),
    });
    for (const index in indexes) others.addIndex(index, indexes[index]!);
    return { declared, view: others };
  });
  return {
    definition,
    cluster,
    log,
    view,
    owned,
    watched,
    views: [view, ...owned.map((one) => one.view), ...watched.map((one) => one.view)],
    children: new Children({ manager: name, ownerKind: kind, owners: view, owned, clock }),
    status: new StatusWriter({
      clock,
      manager: name,
      view,
      schema: statusSchemaOf(kind),
      isPrimary,
      isWhole: options.status === "whole",
      log: cluster.log,
    }),
    reads: new CachedReads(name, [view, ...watched.map((one) => one.view)]),
    events: new EventRecorder({ client, clock, component: name, instance: cluster.identity }),
    times: new DueTimes(clock),
    doubts: new Doubts(),
    selfContained: new Set(),
    isDeclared: (call) => isDeclared(definition, call),
  };
}

/**
 * The namespaces in which objects of a kind are read. With permissions in namespaces alone, cluster-scoped objects are not, and
 * neither are those of optional kinds: whether these are served is read from their definitions, which are cluster-scoped.
 */
function reachable(
  { kind, optional }: { kind: Pick<KindRef<KubeObject>, "namespaced">; optional?: boolean | undefined },
  namespaces: readonly string[] | undefined,
  cluster: Cluster,
): readonly string[] | undefined {
  return cluster.namespaced && (!kind.namespaced || optional) ? [] : namespaces;
}
