import { type Clock, deepCopy, keyOf, timestamp } from "@konverge/core";
import { ensureDefaultRoles } from "../auth/rbac/default-roles.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Registry } from "../resources/registry.ts";
import type { Store } from "../storage/store.ts";
import { contentOf } from "../verbs/call.ts";
import facts from "./objects.json" with { type: "json" };

/**
 * Puts what every cluster begins with into a new store: the four namespaces, the `kubernetes` Service with its address,
 * the system's priority classes, flow schemas, API services and default roles. A store that has been through this once is
 * left alone, whatever its users have removed since.
 */
export function bootstrap(store: Store, registry: Registry, clock: Clock): void {
  if (store.collection("/namespaces").get("kube-system")) return;
  const now = timestamp(clock);
  for (const [resource, objects] of Object.entries(facts as unknown as Record<string, WorkingObject[]>)) {
    const [group, plural] = resource.split("/") as [string, string];
    const definition = registry.get(group, plural)!;
    for (const fact of objects) {
      const object = begun(deepCopy(fact), clock, now);
      store.put(definition.storage, keyOf(object), contentOf(definition, object));
    }
  }
  ensureDefaultRoles(store, clock);
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
