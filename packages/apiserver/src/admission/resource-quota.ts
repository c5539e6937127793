import { parseJson, parseQuantity, type QuantityValue } from "@konverge/core";
import type { Call } from "../call/call.ts";
import type { Container, Pod, ResourceQuota } from "../codec/objects.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { contentOf, objectOf } from "../resources/stored-object.ts";
import type { Entry } from "../storage/entry.ts";
import { recordUpdate } from "../verbs/managed-fields.ts";
import { type AdmissionAttributes, type AdmissionPlugin, refusal } from "./attributes.ts";
import { isInQuotaScope, isTerminating } from "./quota-scopes.ts";
import { growth, isQuotaNameOf, quotaUsageOf, type Usage } from "./quota-usage.ts";

const QUOTAS = "/resourcequotas";

/** What a namespace may hold and use. The usage is kept in the status of its quotas, and corrected by their controller. */
export const resourceQuota: AdmissionPlugin = {
  name: "ResourceQuota",
  handles: (attributes) =>
    attributes.namespace !== "" && attributes.call.store.collection(QUOTAS).size > 0 && isCharged(attributes),
  async validate(attributes) {
    const { call, namespace } = attributes;
    const concerned: string[] = [];
    for (const entry of call.store.collection(QUOTAS).scan(`${namespace}/`)) {
      if (charged(attributes, entry)) concerned.push(entry.key);
    }
    // Nothing is written before all have agreed.
    if (!call.dryRun) for (const key of concerned) await record(attributes, key);
  },
};

/** A quota with this write in it; undefined when it is not about it. Throws when it would be too much. */
function charged(attributes: AdmissionAttributes, entry: Entry): WorkingObject | undefined {
  const { group, resource, object, old, operation } = attributes;
  const quota = parseJson(entry.text) as ResourceQuota & WorkingObject;
  const names = Object.keys(quota.status?.hard ?? {}).filter((name) => isQuotaNameOf(name, group, resource));
  if (names.length === 0 || !isInQuotaScope(quota, resource, object!)) return undefined;
  checkQuota(attributes, quota, names.sort());
  const isCounted = operation === "UPDATE" && old !== undefined && isInQuotaScope(quota, resource, old);
  const before: Usage = isCounted ? quotaUsageOf(group, resource, old) : new Map();
  const used = charge(attributes, quota, growth(quotaUsageOf(group, resource, object!), before));
  return used && { ...quota, status: { ...quota.status, used } };
}

/** New objects count; of changes those that make an object use more. */
function isCharged({ operation, group, resource, subresource, object, old }: AdmissionAttributes): boolean {
  if (operation === "CREATE") return subresource === "";
  if (operation !== "UPDATE" || group !== "") return false;
  if (resource === "pods") {
    if (subresource === "resize") return true;
    const [now, before] = [object, old] as unknown as [Pod, Pod];
    return subresource === "" && isTerminating(now.spec) !== isTerminating(before.spec);
  }
  return subresource === "" && (resource === "services" || resource === "persistentvolumeclaims");
}

function checkQuota(attributes: AdmissionAttributes, quota: ResourceQuota, names: readonly string[]): void {
  const { name } = quota.metadata;
  if (attributes.group === "" && attributes.resource === "pods") {
    const lacking = unsaid(attributes.object as unknown as Pod, names);
    if (lacking.length > 0) throw refusal(attributes, `failed quota: ${name}: must specify ${lacking.join("; ")}`);
  }
  if (names.some((resource) => quota.status?.used?.[resource] === undefined)) {
    throw refusal(attributes, `status unknown for quota: ${name}, resources: ${names.join(",")}`);
  }
}

/** What containers have to say because a quota counts it, and do not. */
function unsaid({ spec }: Pod, names: readonly string[]): string[] {
  if (spec.resources?.requests || spec.resources?.limits) return [];
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  return names
    .filter((name) => /^((requests|limits)\.)?(cpu|memory)$/.test(name))
    .map((name) => ({ name, without: containers.filter((container) => !says(container, name)) }))
    .filter(({ without }) => without.length > 0)
    .map(({ name, without }) => `${name} for: ${[...new Set(without.map((one) => one.name))].sort().join(",")}`);
}

function says({ resources }: Container, name: string): boolean {
  const of = name.startsWith("limits.") ? "limits" : "requests";
  return resources?.[of]?.[name.replace(/^(requests|limits)\./, "")] !== undefined;
}

/** The quota's usage with this write in it; undefined when it adds nothing. Throws when it would be too much. */
function charge(
  attributes: AdmissionAttributes,
  quota: ResourceQuota,
  more: Usage,
): Record<string, QuantityValue> | undefined {
  const { hard = {}, used: before = {} } = quota.status ?? {};
  const names = Object.keys(hard)
    .filter((name) => more.has(name))
    .sort();
  if (names.length === 0) return undefined;
  const used = { ...before };
  const over: string[] = [];
  for (const name of names) {
    const after = parseQuantity(String(used[name] ?? "0")).add(more.get(name)!);
    if (after.cmp(parseQuantity(String(hard[name]))) > 0) over.push(name);
    used[name] = after.toString();
  }
  if (over.length === 0) return used;
  const list = (of: (name: string) => string) => over.map((name) => `${name}=${of(name)}`).join(",");
  const requested = list((name) => more.get(name)!.toString());
  const current = list((name) => String(before[name] ?? "0"));
  const limited = list((name) => String(hard[name]));
  const { name } = quota.metadata;
  throw refusal(attributes, `exceeded quota: ${name}, requested: ${requested}, used: ${current}, limited: ${limited}`);
}

/** Writes a quota's usage as the server itself; other requests may do so at the same time. */
async function record(attributes: AdmissionAttributes, key: string): Promise<void> {
  const { call } = attributes;
  const definition = call.registry.get("", "resourcequotas")!;
  const query = new URLSearchParams({ fieldManager: "kube-apiserver" });
  const info = { ...call.info, group: "", version: "v1", resource: "resourcequotas", subresource: "status", query };
  const own: Call = { ...call, definition, version: definition.versions.get("v1")!, info };
  for (;;) {
    const entry = call.store.collection(QUOTAS).get(key);
    const next = entry && charged(attributes, entry);
    if (!next) return;
    const owned = await recordUpdate(own, objectOf(entry), next);
    if (call.store.collection(QUOTAS).get(key) !== entry) continue;
    call.store.put(QUOTAS, key, contentOf(definition, owned));
    return;
  }
}
