import type { FlowSchema } from "@konverge/kinds";
import { serviceAccountUserName, type User } from "../auth/user.ts";
import type { RequestInfo } from "../http/request-info.ts";

type Spec = NonNullable<FlowSchema["spec"]>;
type Rule = NonNullable<Spec["rules"]>[number];
type Subject = Rule["subjects"][number];
type ResourceRule = NonNullable<Rule["resourceRules"]>[number];

/** Schemas in the order in which they are tried. */
export function byPrecedence(schemas: readonly FlowSchema[]): FlowSchema[] {
  const precedence = ({ spec }: FlowSchema) => spec?.matchingPrecedence ?? 0;
  const name = ({ metadata }: FlowSchema) => metadata?.name ?? "";
  return schemas.toSorted((a, b) => precedence(a) - precedence(b) || (name(a) < name(b) ? -1 : 1));
}

/** Whether a schema is about a request. */
export function matches({ spec }: FlowSchema, user: User, info: RequestInfo): boolean {
  return (spec?.rules ?? []).some(({ subjects, resourceRules = [], nonResourceRules = [] }) => {
    if (!subjects.some((subject) => isSubject(subject, user))) return false;
    if (info.isResource) return resourceRules.some((rule) => coversResource(rule, info));
    return nonResourceRules.some(
      ({ verbs, nonResourceURLs }) =>
        contains(verbs, info.verb) && nonResourceURLs.some((url) => isUnder(url, info.path)),
    );
  });
}

/** What distinguishes the flows of a schema: who asks, or about which namespace. */
export function distinguisherOf({ spec }: FlowSchema, user: User, info: RequestInfo): string {
  switch (spec?.distinguisherMethod?.type) {
    case "ByUser":
      return user.name;
    case "ByNamespace":
      return info.namespace;
    default:
      return "";
  }
}

function isSubject({ kind, user: named, group, serviceAccount }: Subject, user: User): boolean {
  switch (kind) {
    case "User":
      return named !== undefined && (named.name === "*" || named.name === user.name);
    case "Group":
      return group !== undefined && (group.name === "*" || user.groups.includes(group.name));
    case "ServiceAccount": {
      if (!serviceAccount) return false;
      const { namespace, name } = serviceAccount;
      if (name !== "*") return user.name === serviceAccountUserName(namespace, name);
      return user.name.startsWith(serviceAccountUserName(namespace, ""));
    }
    default:
      return false;
  }
}

function coversResource(rule: ResourceRule, { verb, group, resource, subresource, namespace }: RequestInfo): boolean {
  const joined = subresource === "" ? resource : `${resource}/${subresource}`;
  if (!contains(rule.verbs, verb) || !contains(rule.resources, joined) || !contains(rule.apiGroups, group))
    return false;
  return namespace === "" ? (rule.clusterScope ?? false) : contains(rule.namespaces ?? [], namespace);
}

function contains(list: readonly string[], value: string): boolean {
  return (list.length === 1 && list[0] === "*") || list.includes(value);
}

function isUnder(url: string, path: string): boolean {
  if (url === "*" || url === path) return true;
  const prefix = url.replace(/\*$/, "");
  return path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
}
