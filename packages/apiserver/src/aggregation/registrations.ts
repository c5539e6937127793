import { type Clock, timestamp } from "@konverge/core";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Registry } from "../resources/registry.ts";
import { contentOf, objectOf } from "../resources/stored-object.ts";
import { localCondition } from "../resources/strategies/api-service.ts";
import type { Store } from "../storage/store.ts";
import { API_SERVICE_STORAGE, API_SERVICES } from "./api-services.ts";
import { putSystemObject } from "./system-objects.ts";

/** Marks an APIService that the server made and will remove: `true` for those of CRDs. */
const MANAGED = "kube-aggregator.kubernetes.io/automanaged";

/** CRDs come after everything built in; their versions are ranked by name. */
const GROUP_PRIORITY = 1000;
const VERSION_PRIORITY = 100;

const OWNED = {
  "f:metadata": { "f:labels": { ".": {}, [`f:${MANAGED}`]: {} } },
  "f:spec": { "f:group": {}, "f:groupPriorityMinimum": {}, "f:version": {}, "f:versionPriority": {} },
};

/** Gives each version of a group that CRDs define its APIService, and removes those whose CRDs were deleted. */
export function registerCustomGroups(store: Store, registry: Registry, clock: Clock): void {
  const wanted = new Map<string, { group: string; version: string }>();
  for (const { custom, group, versions } of registry.all()) {
    if (custom) for (const version of versions.keys()) wanted.set(`${version}.${group}`, { group, version });
  }
  const collection = store.collection(API_SERVICE_STORAGE);
  for (const [name, served] of wanted) {
    if (collection.get(name)) continue;
    const object = registration(name, served, timestamp(clock));
    putSystemObject(store, registry, clock, { ...API_SERVICES, key: name, object, fields: OWNED });
  }
  const definition = registry.get(API_SERVICES.group, API_SERVICES.plural)!;
  for (const entry of [...collection.scan("")]) {
    if (entry.labels?.[MANAGED] !== "true" || wanted.has(entry.key)) continue;
    store.remove(API_SERVICE_STORAGE, entry.key, contentOf(definition, objectOf(entry)));
  }
}

function registration(
  name: string,
  { group, version }: { group: string; version: string },
  now: string,
): WorkingObject {
  return {
    kind: "APIService",
    apiVersion: `${API_SERVICES.group}/${API_SERVICES.version}`,
    metadata: { name, labels: { [MANAGED]: "true" } },
    spec: { group, version, groupPriorityMinimum: GROUP_PRIORITY, versionPriority: VERSION_PRIORITY },
    status: { conditions: [localCondition(now)] },
  };
}
