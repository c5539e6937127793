import { append, parseJson, parseQuantity, type QuantityValue } from "@konverge/core";
import type { Container, LimitRange, PersistentVolumeClaim, Pod } from "../codec/objects.ts";
import { podAmounts } from "../resources/strategies/pod-spec/resource-lists.ts";
import { type AdmissionAttributes, type AdmissionPlugin, isAbout, refusal } from "./attributes.ts";

type Limit = NonNullable<LimitRange["spec"]>["limits"][number];
type List = Record<string, QuantityValue>;

/** Pods and claims get a namespace's default requests and limits, and stay within its bounds. */
export const limitRanger: AdmissionPlugin = {
  name: "LimitRanger",
  handles: (attributes) =>
    attributes.operation === "CREATE" &&
    isAbout(attributes, "/pods", "/persistentvolumeclaims") &&
    attributes.call.store.collection("/limitranges").size > 0,
  mutate(attributes) {
    if (attributes.resource !== "pods") return;
    const { spec, metadata } = attributes.object as unknown as Pod;
    const notes: string[] = [];
    for (const { type, default: limits = {}, defaultRequest: requests = {} } of limitsOf(attributes)) {
      if (type !== "Container") continue;
      for (const [list, kind] of [
        [spec.containers ?? [], "container"],
        [spec.initContainers ?? [], "init container"],
      ] as const) {
        for (const container of list) append(notes, fillIn(container, kind, requests, limits));
      }
    }
    if (notes.length === 0) return;
    const note = `LimitRanger plugin set: ${notes.join("; ")}`;
    metadata.annotations = { ...metadata.annotations, "kubernetes.io/limit-ranger": note };
  },
  validate(attributes) {
    const problems = limitsOf(attributes).flatMap((limit) => violations(attributes, limit));
    if (problems.length > 0)
      throw refusal(attributes, problems.length === 1 ? problems[0]! : `[${problems.join(", ")}]`);
  },
};

function limitsOf({ call, namespace }: AdmissionAttributes): Limit[] {
  return [...call.store.collection("/limitranges").scan(`${namespace}/`)].flatMap(
    ({ text }) => (parseJson(text) as LimitRange).spec?.limits ?? [],
  );
}

function fillIn(container: Container, kind: string, requests: List, limits: List): string[] {
  const notes: string[] = [];
  const resources = { ...container.resources };
  const fill = (of: "requests" | "limits", defaults: List) => {
    const missing = Object.keys(defaults).filter((name) => resources[of]?.[name] === undefined);
    if (missing.length === 0) return;
    resources[of] = { ...Object.fromEntries(missing.map((name) => [name, defaults[name]!])), ...resources[of] };
    const word = of === "requests" ? "request" : "limit";
    notes.push(`${missing.sort().join(", ")} ${word} for ${kind} ${container.name}`);
  };
  fill("requests", requests);
  fill("limits", limits);
  container.resources = resources;
  return notes;
}

function violations({ object, resource }: AdmissionAttributes, limit: Limit): string[] {
  if (resource === "persistentvolumeclaims") {
    if (limit.type !== "PersistentVolumeClaim") return [];
    const { spec } = object as unknown as PersistentVolumeClaim;
    return bounds(limit, "PersistentVolumeClaim", spec?.resources?.requests ?? {}, {});
  }
  const { spec } = object as unknown as Pod;
  if (limit.type === "Container") {
    return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      bounds(limit, "Container", resources?.requests ?? {}, resources?.limits ?? {}),
    );
  }
  if (limit.type !== "Pod") return [];
  const texts = (of: "requests" | "limits") =>
    Object.fromEntries([...podAmounts(spec, of)].map(([name, amount]) => [name, amount.toString()]));
  return bounds(limit, "Pod", texts("requests"), texts("limits"));
}

function bounds(
  { min = {}, max = {}, maxLimitRequestRatio = {} }: Limit,
  type: string,
  requests: List,
  limits: List,
): string[] {
  const found: string[] = [];
  const amount = parseQuantity;
  for (const [name, bound] of Object.entries(min)) {
    const request = requests[name];
    const least = `minimum ${name} usage per ${type} is ${bound}`;
    if (request === undefined) found.push(`${least}.  No request is specified`);
    else if (amount(request).cmp(amount(bound)) < 0) found.push(`${least}, but request is ${request}`);
    else if (limits[name] !== undefined && amount(limits[name]).cmp(amount(bound)) < 0) {
      found.push(`${least}, but limit is ${limits[name]}`);
    }
  }
  for (const [name, bound] of Object.entries(max)) {
    const most = `maximum ${name} usage per ${type} is ${bound}`;
    const used = type === "PersistentVolumeClaim" ? requests[name] : limits[name];
    const word = type === "PersistentVolumeClaim" ? "request" : "limit";
    if (used === undefined) found.push(`${most}.  No ${word} is specified`);
    else if (amount(used).cmp(amount(bound)) > 0) found.push(`${most}, but ${word} is ${used}`);
    else if (requests[name] !== undefined && amount(requests[name]).cmp(amount(bound)) > 0) {
      found.push(`${most}, but request is ${requests[name]}`);
    }
  }
  for (const [name, bound] of Object.entries(maxLimitRequestRatio)) {
    const [request, limit] = [requests[name], limits[name]];
    if (request === undefined || limit === undefined) {
      found.push(
        `${name} max limit to request ratio per ${type} is ${bound}, but no ${request ? "limit" : "request"} is specified or ${request ? "limit" : "request"} is 0`,
      );
      continue;
    }
    const ratio = amount(limit).asNumber() / amount(request).asNumber();
    if (ratio > amount(bound).asNumber()) {
      found.push(
        `${name} max limit to request ratio per ${type} is ${bound}, but provided ratio is ${ratio.toFixed(6)}`,
      );
    }
  }
  return found;
}
