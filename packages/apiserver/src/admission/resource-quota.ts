import { parseJson, parseQuantity, Quantity } from "@konverge/core";
import type { PersistentVolumeClaim, Pod, ResourceQuota, Service } from "../resources/strategies/objects.ts";
import { podAmounts } from "../resources/strategies/pod-spec/resource-lists.ts";
import { type Call, contentOf, objectOf } from "../verbs/call.ts";
import { type AdmissionAttributes, type AdmissionPlugin, refusal } from "./attributes.ts";

const QUOTAS = "/resourcequotas";
type Usage = Map<string, Quantity>;

/** Counted under their own names; everything else as `count/RESOURCE.GROUP`. */
const COUNTED = new Set([
  "pods",
  "services",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "replicationcontrollers",
  "resourcequotas",
]);

/** What a namespace may hold and use. The usage is kept in the status of its quotas, and corrected by their controller. */
export const resourceQuota: AdmissionPlugin = {
  name: "ResourceQuota",
  handles: ({ operation, namespace, subresource, call }) =>
    operation === "CREATE" && namespace !== "" && subresource === "" && call.store.collection(QUOTAS).size > 0,
  validate(attributes) {
    const { call, namespace } = attributes;
    const wanted = usageOf(attributes);
    const charged: { key: string; quota: ResourceQuota; used: Record<string, string> }[] = [];
    for (const entry of call.store.collection(QUOTAS).scan(`${namespace}/`)) {
      const quota = parseJson(entry.text) as ResourceQuota;
      if (!inScope(quota, attributes)) continue;
      const used = charge(attributes, quota, wanted);
      if (used) charged.push({ key: entry.key, quota, used });
    }
    if (!call.dryRun) for (const { key, quota, used } of charged) record(call, key, quota, used);
  },
};

/** The quota's usage with this write in it; undefined when it does not concern it. Throws when it would be too much. */
function charge(
  attributes: AdmissionAttributes,
  quota: ResourceQuota,
  wanted: Usage,
): Record<string, string> | undefined {
  const hard = quota.status?.hard ?? {};
  const concerned = Object.keys(hard)
    .filter((name) => wanted.has(name))
    .sort();
  const constrained = Object.keys(hard)
    .filter((name) => attributes.resource === "pods" && isComputed(name))
    .sort();
  const missing = constrained.filter((name) => !wanted.has(name));
  const { name: quotaName } = quota.metadata;
  if (missing.length > 0) {
    const pod = attributes.object as unknown as Pod;
    const lacking = missing.map((name) => `${name} for: ${containersWithout(pod, name).join(",")}`);
    throw refusal(attributes, `failed quota: ${quotaName}: must specify ${lacking.join("; ")}`);
  }
  if (concerned.length === 0) return undefined;
  const used = { ...quota.status?.used };
  const over: string[] = [];
  for (const name of concerned) {
    const before = parseQuantity(String(used[name] ?? "0"));
    const after = before.add(wanted.get(name)!);
    if (after.cmp(parseQuantity(String(hard[name]))) > 0) over.push(name);
    used[name] = after.toString();
  }
  if (over.length === 0) return used;
  const list = (of: (name: string) => string) => over.map((name) => `${name}=${of(name)}`).join(",");
  const requested = list((name) => wanted.get(name)!.toString());
  const current = list((name) => String(quota.status?.used?.[name] ?? "0"));
  const limited = list((name) => String(hard[name]));
  throw refusal(
    attributes,
    `exceeded quota: ${quotaName}, requested: ${requested}, used: ${current}, limited: ${limited}`,
  );
}

/** The containers that leave open what a quota wants to know. */
function containersWithout({ spec }: Pod, name: string): string[] {
  const of = name.startsWith("limits.") ? "limits" : "requests";
  const resource = name.replace(/^(requests|limits)\./, "");
  const all = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  return all.filter(({ resources }) => resources?.[of]?.[resource] === undefined).map((container) => container.name);
}

function isComputed(name: string): boolean {
  return /^((requests|limits)\.)?(cpu|memory)$/.test(name);
}

function record(call: Call, key: string, quota: ResourceQuota, used: Record<string, string>): void {
  const entry = call.store.collection(QUOTAS).get(key);
  if (!entry) return;
  const object = objectOf(entry);
  object["status"] = { ...quota.status, used };
  call.store.put(QUOTAS, key, contentOf(call.registry.get("", "resourcequotas")!, object));
}

/** What an object counts for, under each name that quotas may have for it. */
function usageOf({ group, resource, object }: AdmissionAttributes): Usage {
  const one = Quantity.of(1);
  const usage: Usage = new Map([[group === "" ? `count/${resource}` : `count/${resource}.${group}`, one]]);
  if (group !== "") return usage;
  if (COUNTED.has(resource)) usage.set(resource, one);
  if (resource === "pods") addPod(usage, object as unknown as Pod);
  if (resource === "services") addService(usage, object as unknown as Service);
  if (resource === "persistentvolumeclaims") addClaim(usage, object as unknown as PersistentVolumeClaim);
  return usage;
}

function addPod(usage: Usage, { spec }: Pod): void {
  for (const [name, amount] of podAmounts(spec, "requests")) {
    usage.set(`requests.${name}`, amount);
    if (name === "cpu" || name === "memory" || name === "ephemeral-storage") usage.set(name, amount);
  }
  for (const [name, amount] of podAmounts(spec, "limits")) usage.set(`limits.${name}`, amount);
}

function addService(usage: Usage, { spec }: Service): void {
  const ports = Quantity.of(spec?.ports?.length ?? 0);
  if (spec?.type === "NodePort") usage.set("services.nodeports", ports);
  if (spec?.type !== "LoadBalancer") return;
  usage.set("services.loadbalancers", Quantity.of(1));
  if (spec.allocateLoadBalancerNodePorts !== false) usage.set("services.nodeports", ports);
}

function addClaim(usage: Usage, { spec }: PersistentVolumeClaim): void {
  const storage = spec?.resources?.requests?.["storage"];
  if (storage !== undefined) usage.set("requests.storage", parseQuantity(String(storage)));
  if (!spec?.storageClassName) return;
  const prefix = `${spec.storageClassName}.storageclass.storage.k8s.io`;
  usage.set(`${prefix}/persistentvolumeclaims`, Quantity.of(1));
  if (storage !== undefined) usage.set(`${prefix}/requests.storage`, parseQuantity(String(storage)));
}

/** Whether a quota is about objects such as this one: scopes speak of pods alone. */
function inScope({ spec }: ResourceQuota, { resource, object }: AdmissionAttributes): boolean {
  const scopes = spec?.scopes ?? [];
  if (scopes.length === 0) return true;
  if (resource !== "pods") return false;
  const pod = (object as unknown as Pod).spec;
  const isTerminating = pod.activeDeadlineSeconds !== undefined;
  const isBestEffort = podAmounts(pod, "requests").size === 0 && podAmounts(pod, "limits").size === 0;
  return scopes.every((scope) => {
    if (scope === "Terminating") return isTerminating;
    if (scope === "NotTerminating") return !isTerminating;
    if (scope === "BestEffort") return isBestEffort;
    return scope === "NotBestEffort" ? !isBestEffort : true;
  });
}
