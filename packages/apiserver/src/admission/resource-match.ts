import { apiVersionOf, type LabelSelector, parseJson, selectsLabels } from "@konverge/core";
import type { WorkingObject } from "../codec/working-object.ts";
import { convertTo } from "../resources/stored-object.ts";
import type { AdmissionAttributes } from "./attributes.ts";

/** Which requests a webhook or policy is about. */
export interface ResourceMatch {
  readonly rules?: readonly Rule[];
  readonly excludeRules?: readonly Rule[];
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
}

export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly operations?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
  readonly resourceNames?: readonly string[];
}

/** In which of its versions a request matches. */
export interface Matched {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
}

/** No webhook and no policy applies to these: a broken one could otherwise never be repaired. */
const EXEMPT = new Set([
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
]);

/** The version of the request in which it matches, or undefined when it does not. */
export function matchResource(attributes: AdmissionAttributes, match: ResourceMatch): Matched | undefined {
  if (attributes.group === "admissionregistration.k8s.io" && EXEMPT.has(attributes.resource)) return undefined;
  if (!inNamespace(attributes, match.namespaceSelector) || !selected(attributes, match.objectSelector))
    return undefined;
  const { definition, version } = attributes.call;
  const own: Matched = {
    group: attributes.group,
    version: attributes.call.info.version,
    resource: attributes.resource,
    kind: version.kind,
  };
  const candidates =
    match.matchPolicy === "Exact"
      ? [own]
      : [own, ...[...definition.versions.values()].map((other) => ({ ...own, version: other.version }))];
  const matches = (rules: readonly Rule[] | undefined, candidate: Matched) =>
    (rules ?? []).some((rule) => ruleMatches(rule, candidate, attributes));
  if (candidates.some((candidate) => matches(match.excludeRules, candidate))) return undefined;
  return candidates.find((candidate) => matches(match.rules, candidate));
}

function ruleMatches(rule: Rule, { group, version, resource }: Matched, attributes: AdmissionAttributes): boolean {
  const { operation, subresource, namespace, name } = attributes;
  const within = (list: readonly string[] | undefined, value: string) =>
    list?.includes("*") || list?.includes(value) || false;
  if (!within(rule.operations, operation) || !within(rule.apiGroups, group) || !within(rule.apiVersions, version)) {
    return false;
  }
  const isNamespaced = namespace !== "" && !(group === "" && resource === "namespaces");
  const scope = rule.scope ?? "*";
  if (scope !== "*" && (scope === "Namespaced") !== isNamespaced) return false;
  if (rule.resourceNames?.length && !rule.resourceNames.includes(name)) return false;
  return (rule.resources ?? []).some((pattern) => {
    const [wanted, wantedSub = ""] = pattern.split("/") as [string, string?];
    return (wanted === "*" || wanted === resource) && (wantedSub === "*" || wantedSub === subresource);
  });
}

function isEmpty(selector: LabelSelector | undefined): boolean {
  return (
    !selector ||
    (Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0)
  );
}

function inNamespace(attributes: AdmissionAttributes, selector: LabelSelector | undefined): boolean {
  if (isEmpty(selector)) return true;
  const { group, resource, namespace, operation, object, old, call } = attributes;
  if (group === "" && resource === "namespaces") {
    const itself = operation === "DELETE" ? old : object;
    return selectsLabels(selector!, itself?.metadata?.labels);
  }
  if (namespace === "") return true;
  return selectsLabels(selector!, call.store.collection("/namespaces").get(namespace)?.labels);
}

function selected({ object, old }: AdmissionAttributes, selector: LabelSelector | undefined): boolean {
  if (isEmpty(selector)) return true;
  return [object, old].some((one) => one?.metadata !== undefined && selectsLabels(selector!, one.metadata.labels));
}

/** Both objects of a request in the version in which it matched. */
export async function inVersion(
  { call, object, old }: AdmissionAttributes,
  { group, version }: Matched,
): Promise<{ object: WorkingObject | undefined; old: WorkingObject | undefined }> {
  const apiVersion = apiVersionOf({ group, version });
  const convert = async (one: WorkingObject | undefined) =>
    one && version !== call.info.version ? await convertTo(call.definition, structuredClone(one), apiVersion) : one;
  return { object: await convert(object), old: await convert(old) };
}

/** The namespace of a request, for expressions. */
export function namespaceOf({ call, namespace, group, resource }: AdmissionAttributes): WorkingObject | undefined {
  if (namespace === "" || (group === "" && resource === "namespaces")) return undefined;
  const entry = call.store.collection("/namespaces").get(namespace);
  return entry && (parseJson(entry.text) as WorkingObject);
}
