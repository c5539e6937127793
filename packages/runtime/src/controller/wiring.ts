import type { Client } from "@konverge/client";
import type { Clock, KubeObject } from "@konverge/core";
import { labelBond, referenceBond } from "../apply/bond.ts";
import { BY_OWNER, Children, type OwnedView } from "../apply/children.ts";
import { StatusWriter } from "../apply/status.ts";
import type { Cache } from "../cache/cache.ts";
import type { CacheView } from "../cache/view.ts";
import type { Controller } from "../definition/definition.ts";
import type { WatchedKind } from "../definition/watched.ts";
import type { Authority } from "../leadership/authority.ts";
import type { Log } from "../log.ts";
import type { Observer } from "../observe/observer.ts";
import { schemaOf, statusSchemaOf } from "../schema-of.ts";

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
  /** The clients of all clusters, by name. */
  readonly clients: ReadonlyMap<string, Client>;
  /** Their caches, by name. */
  readonly caches: ReadonlyMap<string, Cache>;
}

/** What a controller reads and writes with. */
export interface Wiring {
  /** The objects of its own kind. */
  readonly view: CacheView<KubeObject>;
  readonly owned: readonly OwnedView[];
  readonly watched: readonly { declared: WatchedKind; view: CacheView<KubeObject> }[];
  /** All of the above. */
  readonly views: readonly CacheView<KubeObject>[];
  readonly children: Children;
  readonly status: StatusWriter;
}

/** Declares to the cache all that a controller will read. */
export function wire(definition: Controller, { cache, clock, log, namespaces: all }: Cluster): Wiring {
  const { name, kind, options } = definition;
  const namespaces = options.namespaces ?? all;
  cache.addManager(name);
  const { labelSelector, fieldSelector } = options;
  const view = cache.use(kind, { namespaces, labelSelector, fieldSelector });
  const owned = definition.owns.map((declared): OwnedView => {
    const bond = declared.by === "label" ? labelBond(kind) : referenceBond(kind);
    const children = cache.use(declared.kind, {
      // Children held by a label may be anywhere.
      namespaces: declared.by === "label" ? undefined : namespaces,
      labelSelector: declared.labelSelector,
      interest: (object) => bond.ownerKey(object) !== undefined,
    });
    children.addIndex(BY_OWNER, bond.ownerUids);
    return { declared, view: children, bond, schema: schemaOf(declared.kind) };
  });
  const watched = (options.watches ?? []).map((declared) => {
    const { project, indexes, ...need } = declared.options;
    const others = cache.use(declared.kind, {
      namespaces: need.namespaces ?? namespaces,
      labelSelector: need.labelSelector,
      fieldSelector: need.fieldSelector,
      ...(project && { project }),
    });
    for (const index in indexes) others.addIndex(index, indexes[index]!);
    return { declared, view: others };
  });
  return {
    view,
    owned,
    watched,
    views: [view, ...owned.map((one) => one.view), ...watched.map((one) => one.view)],
    children: new Children({ manager: name, ownerKind: kind, owned, clock }),
    status: new StatusWriter({ clock, manager: name, view, schema: statusSchemaOf(kind), log }),
  };
}
