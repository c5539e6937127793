import { type KubeObject, parseQuantity, Quantity } from "@konverge/core";
import type { PersistentVolumeClaim, Pod, Service } from "../codec/objects.ts";
import { podAmounts } from "../resources/strategies/pod-spec/resource-lists.ts";

/** What an object counts for, under each name that quotas may have for it. */
export type Usage = Map<string, Quantity>;

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
const OF_CONTAINERS = new Set(["cpu", "memory", "ephemeral-storage"]);

/** What one object counts for. */
export function quotaUsageOf(group: string, resource: string, object: KubeObject): Usage {
  const one = Quantity.of(1);
  const usage: Usage = new Map([[group === "" ? `count/${resource}` : `count/${resource}.${group}`, one]]);
  if (group !== "") return usage;
  if (resource === "pods") return isOver(object as unknown as Pod) ? usage : podUsage(usage, object as unknown as Pod);
  if (COUNTED.has(resource)) usage.set(resource, one);
  if (resource === "services") addService(usage, object as unknown as Service);
  if (resource === "persistentvolumeclaims") addClaim(usage, object as unknown as PersistentVolumeClaim);
  return usage;
}

/** Pods that have ended count as objects, and use nothing. */
function isOver({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

function podUsage(usage: Usage, { spec }: Pod): Usage {
  usage.set("pods", Quantity.of(1));
  for (const [name, amount] of podAmounts(spec, "requests")) {
    usage.set(`requests.${name}`, amount);
    if (OF_CONTAINERS.has(name) || name.startsWith("hugepages-")) usage.set(name, amount);
  }
  for (const [name, amount] of podAmounts(spec, "limits")) {
    if (OF_CONTAINERS.has(name)) usage.set(`limits.${name}`, amount);
  }
  return usage;
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

/** By how much one usage is more than another, where it is. */
export function growth(now: Usage, before: Usage): Usage {
  const more: Usage = new Map();
  for (const [name, amount] of now) {
    const difference = amount.sub(before.get(name) ?? Quantity.of(0));
    if (difference.sign() > 0) more.set(name, difference);
  }
  return more;
}

/** Whether a quota's name for something is about objects of a resource. */
export function isQuotaNameOf(name: string, group: string, resource: string): boolean {
  if (name === (group === "" ? `count/${resource}` : `count/${resource}.${group}`)) return true;
  if (group !== "") return false;
  switch (resource) {
    case "pods":
      return name === "pods" || /^((requests|limits)\.)?(cpu|memory|ephemeral-storage)$/.test(name) || isExtended(name);
    case "services":
      return name === "services" || name.startsWith("services.");
    case "persistentvolumeclaims":
      return name === resource || name === "requests.storage" || name.includes(".storageclass.storage.k8s.io/");
    default:
      return COUNTED.has(resource) && name === resource;
  }
}

function isExtended(name: string): boolean {
  return name.startsWith("hugepages-") || name.startsWith("requests.hugepages-") || /^requests\.[^/]+\//.test(name);
}
