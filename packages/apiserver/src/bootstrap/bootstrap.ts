import { type Clock, deepCopy, keyOf, stringifyJson, timestamp } from "@konverge/core";
import { ensureDefaultRoles } from "../auth/rbac/default-roles.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Registry } from "../resources/registry.ts";
import type { Entry } from "../storage/entry.ts";
import type { Store } from "../storage/store.ts";
import facts from "./objects.json" with { type: "json" };

/** In the form in which they are stored; what differs from cluster to cluster is empty. */
const FACTS = facts as unknown as Record<string, WorkingObject[]>;
/** Entries that are as they were put here. */
const untouched = new WeakSet<Entry>();

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
    const { metadata } = object;
    const entry = store.put(definition.storage, keyOf(object), (revision) => {
      metadata.resourceVersion = String(revision);
      const fields = definition.strategy.fields?.(object);
      return { text: stringifyJson(object), uid: metadata.uid ?? "", labels: metadata.labels, fields };
    });
    untouched.add(entry);
  }
}

/** Whether an entry is one of the default objects, and nothing has changed it since. */
export function isUntouchedDefault(entry: Entry): boolean {
  return untouched.has(entry);
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
