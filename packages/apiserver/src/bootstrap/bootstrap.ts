import { type Clock, deepCopy, keyOf, timestamp } from "@konverge/core";
import { ensureDefaultRoles } from "../auth/rbac/default-roles.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Registry } from "../resources/registry.ts";
import { contentOf } from "../resources/stored-object.ts";
import type { Store } from "../storage/store.ts";
import facts from "./objects.json" with { type: "json" };

const FACTS = facts as unknown as Record<string, WorkingObject[]>;

/** Not restored at start: OwnService restores them while the server has an address. */
const MADE_ONCE = new Set(["/services", "networking.k8s.io/ipaddresses"]);

/**
 * Puts what every cluster begins with into a store: the four namespaces, the `kubernetes` Service with its address, the
 * system's priority classes, flow schemas, API services and default roles. In a store that has been through this before, what
 * is missing is put back, as with every start of a kube-apiserver.
 */
export function bootstrap(store: Store, registry: Registry, clock: Clock): void {
  const isNew = !store.collection("/namespaces").get("kube-system");
  for (const resource of Object.keys(FACTS)) {
    if (isNew || !MADE_ONCE.has(resource)) ensureDefaults(store, registry, clock, resource);
  }
  ensureDefaultRoles(store, clock);
}

/** The objects of one collection that every cluster begins with. */
export function defaultsOf(resource: string): readonly WorkingObject[] {
  return FACTS[resource] ?? [];
}

/** Puts those of the default objects of a collection into the store that it lacks. */
export function ensureDefaults(store: Store, registry: Registry, clock: Clock, resource: string): void {
  const [group, plural] = resource.split("/") as [string, string];
  const definition = registry.get(group, plural)!;
  const now = timestamp(clock);
  for (const fact of defaultsOf(resource)) {
    if (store.collection(definition.storage).get(keyOf(fact))) continue;
    const object = begun(deepCopy(fact), clock, now);
    store.put(definition.storage, keyOf(object), contentOf(definition, object));
  }
}

/** What differs from cluster to cluster. */
function begun(object: WorkingObject, clock: Clock, now: string): WorkingObject {
  const { metadata } = object;
  metadata.uid = clock.random.uuid();
  metadata.creationTimestamp = now;
  for (const entry of metadata.managedFields ?? []) entry.time = now;
  const { conditions = [] } = (object["status"] ?? {}) as { conditions?: { lastTransitionTime?: string }[] };
  for (const condition of conditions) condition.lastTransitionTime = now;
  return object;
}
