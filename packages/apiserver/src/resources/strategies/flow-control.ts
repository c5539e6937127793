import { append, dns1123LabelErrors, dns1123SubdomainErrors, type FieldError } from "@konverge/core";
import { duplicate, forbidden, invalidValue, notSupported, required } from "@konverge/schema";
import type { WorkingObject } from "../../codec/working-object.ts";
import type { Strategy } from "../definition.ts";
import { named, oneOf, within } from "./pod-spec/checks.ts";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
const MOST_QUEUES = 10_000_000;
const MOST_HASH_BITS = 60;
const LOWEST_PRECEDENCE = 10_000;

interface Subject {
  kind?: string;
  user?: { name?: string };
  group?: { name?: string };
  serviceAccount?: { name?: string; namespace?: string };
}

interface ResourceRule {
  verbs?: string[];
  apiGroups?: string[];
  resources?: string[];
  namespaces?: string[];
  clusterScope?: boolean;
}

interface FlowSchema extends WorkingObject {
  spec: {
    matchingPrecedence?: number;
    distinguisherMethod?: { type?: string };
    priorityLevelConfiguration?: { name?: string };
    rules?: {
      subjects?: Subject[];
      resourceRules?: ResourceRule[];
      nonResourceRules?: { verbs?: string[]; nonResourceURLs?: string[] }[];
    }[];
  };
}

/** Which requests wait in which queue. */
export const flowSchema: Strategy = {
  validate: (object: FlowSchema) => [...flowErrors(object), ...statusErrors(object)],
  validateStatusUpdate: (object) => statusErrors(object),
};

function flowErrors({ metadata, spec }: FlowSchema): FieldError[] {
  const {
    matchingPrecedence: precedence = 0,
    distinguisherMethod,
    priorityLevelConfiguration,
    rules = [],
  } = spec ?? {};
  const errors: FieldError[] = [];
  const wrong = (detail: string) => errors.push(invalidValue("spec.matchingPrecedence", precedence, detail));
  if (precedence <= 0) wrong("must be a positive value");
  if (precedence > LOWEST_PRECEDENCE) wrong(`must not be greater than ${LOWEST_PRECEDENCE}`);
  if (precedence === 1 && metadata.name !== "exempt") {
    wrong("only the schema named 'exempt' may have matchingPrecedence 1");
  }
  const methods = ["ByNamespace", "ByUser"];
  if (distinguisherMethod && !methods.includes(distinguisherMethod.type ?? "")) {
    const shown = { Type: distinguisherMethod.type ?? "" };
    errors.push(notSupported("spec.distinguisherMethod.type", shown, methods));
  }
  const { name = "" } = priorityLevelConfiguration ?? {};
  const at = "spec.priorityLevelConfiguration.name";
  if (name === "") errors.push(required(at, "must reference a priority level"));
  else append(errors, named(at, name, dns1123SubdomainErrors(name)));
  rules.forEach(({ subjects = [], resourceRules = [], nonResourceRules = [] }, index) => {
    const field = `spec.rules[${index}]`;
    if (!subjects?.length) errors.push(required(`${field}.subjects`, "subjects must contain at least one value"));
    (subjects ?? []).forEach((subject, place) => {
      append(errors, subjectErrors(subject, `${field}.subjects[${place}]`));
    });
    if (resourceRules.length === 0 && nonResourceRules.length === 0) {
      errors.push(required(field, "at least one of resourceRules and nonResourceRules has to be non-empty"));
    }
    resourceRules.forEach((rule, place) => {
      append(errors, resourceRuleErrors(rule, `${field}.resourceRules[${place}]`));
    });
    nonResourceRules.forEach(({ verbs, nonResourceURLs }, place) => {
      const where = `${field}.nonResourceRules[${place}]`;
      append(errors, verbErrors(verbs ?? [], where));
      append(errors, urlErrors(nonResourceURLs ?? [], `${where}.nonResourceURLs`));
    });
  });
  return errors;
}

const FIELDS = { ServiceAccount: "serviceAccount", User: "user", Group: "group" } as const;

function subjectErrors(subject: Subject, field: string): FieldError[] {
  const { kind = "" } = subject;
  if (!(kind in FIELDS)) return [notSupported(`${field}.kind`, kind, ["Group", "ServiceAccount", "User"])];
  const own = FIELDS[kind as keyof typeof FIELDS];
  const errors: FieldError[] = [];
  const given = subject[own];
  if (!given) errors.push(required(`${field}.${own}`, `${own} is required when subject kind is '${kind}'`));
  else {
    const { name = "" } = given;
    if (name === "") errors.push(required(`${field}.${own}.name`));
    else if (own === "serviceAccount" && name !== "*") {
      append(errors, named(`${field}.${own}.name`, name, dns1123SubdomainErrors(name)));
    }
    if (own === "serviceAccount") {
      const { namespace = "" } = subject.serviceAccount!;
      const at = `${field}.${own}.namespace`;
      if (namespace === "") errors.push(required(at, "must specify namespace for service account"));
      else append(errors, named(at, namespace, dns1123LabelErrors(namespace)));
    }
  }
  for (const [other, name] of Object.entries(FIELDS)) {
    if (name === own || !subject[name]) continue;
    errors.push(forbidden(`${field}.${name}`, `${name} is forbidden when subject kind is not '${other}'`));
  }
  return errors;
}

function verbErrors(verbs: readonly string[], field: string): FieldError[] {
  const at = `${field}.verbs`;
  if (verbs.length === 0) return [required(at, "verbs must contain at least one value")];
  if (verbs.includes("*")) return aloneErrors(verbs, at, "verbs");
  return verbs.every((verb) => VERBS.includes(verb)) ? [] : [notSupported(at, verbs, VERBS)];
}

function aloneErrors(list: readonly string[], field: string, what: string): FieldError[] {
  if (list.length <= 1 || !list.includes("*")) return [];
  return [invalidValue(field, list, `if '*' is present, must not specify other ${what}`)];
}

function resourceRuleErrors(rule: ResourceRule, field: string): FieldError[] {
  const { verbs, apiGroups, resources, namespaces, clusterScope = false } = rule;
  const errors = verbErrors(verbs ?? [], field);
  if (!apiGroups?.length) {
    errors.push(required(`${field}.apiGroups`, "resource rules must supply at least one api group"));
  } else append(errors, aloneErrors(apiGroups, `${field}.apiGroups`, "api groups"));
  if (!resources?.length) {
    errors.push(required(`${field}.resources`, "resource rules must supply at least one resource"));
  } else append(errors, aloneErrors(resources, `${field}.resources`, "resources"));
  const at = `${field}.namespaces`;
  if (!namespaces?.length) {
    const detail = "resource rules that are not cluster scoped must supply at least one namespace";
    return clusterScope ? errors : [...errors, required(at, detail)];
  }
  if (namespaces.includes("*")) return [...errors, ...aloneErrors(namespaces, at, "namespaces")];
  const rule1123 = "each member of this list must be '*' or a DNS-1123 label; ";
  namespaces.forEach((name, index) => {
    for (const detail of dns1123LabelErrors(name)) {
      errors.push(invalidValue(`${at}[${index}]`, name, rule1123 + detail));
    }
  });
  return errors;
}

function urlErrors(urls: readonly string[], field: string): FieldError[] {
  if (urls.length === 0) return [required(field, "nonResourceURLs must contain at least one value")];
  if (urls.includes("*")) return aloneErrors(urls, field, "non-resource URLs");
  return urls.flatMap((url, index) => {
    const problem = urlProblem(url);
    return problem ? [invalidValue(`${field}[${index}]`, url, problem)] : [];
  });
}

function urlProblem(url: string): string | undefined {
  if (url === "") return "must not be empty";
  if (url === "/") return undefined;
  if (!url.startsWith("/")) return "must start with slash";
  if (url.includes(" ")) return "must not contain white-space";
  if (url.includes("//")) return "must not contain double slash";
  const stars = url.split("*").length - 1;
  return stars > 1 || (stars === 1 && !url.endsWith("/*")) ? "wildcard can only do suffix matching" : undefined;
}

interface PriorityLevel extends WorkingObject {
  spec: {
    type?: string;
    exempt?: { nominalConcurrencyShares?: number; lendablePercent?: number };
    limited?: {
      nominalConcurrencyShares?: number;
      lendablePercent?: number;
      borrowingLimitPercent?: number;
      limitResponse?: { type?: string; queuing?: { queues?: number; handSize?: number; queueLengthLimit?: number } };
    };
  };
}

/** How much of the server a kind of request may have. */
export const priorityLevelConfiguration: Strategy = {
  validate: (object: PriorityLevel) => [...levelErrors(object), ...statusErrors(object)],
  validateStatusUpdate: (object) => statusErrors(object),
};

function levelErrors({ metadata, spec }: PriorityLevel): FieldError[] {
  const { type = "", exempt, limited } = spec ?? {};
  const errors: FieldError[] = [];
  if ((metadata.name === "exempt") !== (type === "Exempt")) {
    errors.push(invalidValue("spec.type", type, "must be 'Exempt' if and only if `name` is 'exempt'"));
  }
  if (type === "Exempt") {
    if (limited) errors.push(forbidden("spec.limited", "must be nil if the type is not Limited"));
    return exempt ? [...errors, ...shareErrors(exempt, "spec.exempt")] : errors;
  }
  if (type !== "Limited") return [...errors, ...oneOf("spec.type", type, ["Exempt", "Limited"])];
  if (exempt) errors.push(forbidden("spec.exempt", "must be nil if the type is Limited"));
  if (!limited) return [...errors, required("spec.limited", "must not be empty when type is Limited")];
  const {
    lendablePercent,
    borrowingLimitPercent: borrowing,
    limitResponse,
    nominalConcurrencyShares: shares,
  } = limited;
  append(errors, shareErrors(shares === undefined ? {} : { nominalConcurrencyShares: shares }, "spec.limited"));
  append(errors, responseErrors(limitResponse ?? {}, "spec.limited.limitResponse"));
  append(errors, within("spec.limited.lendablePercent", lendablePercent, 0, 100));
  if (borrowing !== undefined && borrowing < 0) {
    const detail = "if specified, must be a non-negative integer";
    errors.push(invalidValue("spec.limited.borrowingLimitPercent", borrowing, detail));
  }
  return errors;
}

function shareErrors(of: { nominalConcurrencyShares?: number; lendablePercent?: number }, field: string): FieldError[] {
  const { nominalConcurrencyShares: shares, lendablePercent } = of;
  return [
    ...(shares !== undefined && shares < 0
      ? [invalidValue(`${field}.nominalConcurrencyShares`, shares, "must be a non-negative integer")]
      : []),
    ...within(`${field}.lendablePercent`, lendablePercent, 0, 100),
  ];
}

type Response = NonNullable<NonNullable<PriorityLevel["spec"]["limited"]>["limitResponse"]>;

function responseErrors({ type = "", queuing }: Response, field: string): FieldError[] {
  if (type === "Reject") {
    const detail = "must be nil if limited.limitResponse.type is not Limited";
    return queuing ? [forbidden(`${field}.queuing`, detail)] : [];
  }
  if (type !== "Queue") return oneOf(`${field}.type`, type, ["Queue", "Reject"]);
  const at = `${field}.queuing`;
  if (!queuing) return [required(at, "must not be empty if limited.limitResponse.type is Limited")];
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing;
  const errors: FieldError[] = [];
  if (queueLengthLimit <= 0) errors.push(invalidValue(`${at}.queueLengthLimit`, queueLengthLimit, "must be positive"));
  if (queues <= 0) errors.push(invalidValue(`${at}.queues`, queues, "must be positive"));
  else if (queues > MOST_QUEUES) {
    errors.push(invalidValue(`${at}.queues`, queues, `must not be greater than ${MOST_QUEUES}`));
  }
  if (handSize <= 0) errors.push(invalidValue(`${at}.handSize`, handSize, "must be positive"));
  else if (handSize > queues) {
    errors.push(invalidValue(`${at}.handSize`, handSize, `should not be greater than queues (${queues})`));
  } else if (hashBits(queues, handSize) > MOST_HASH_BITS) {
    const detail = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${MOST_HASH_BITS}`;
    errors.push(invalidValue(`${at}.handSize`, handSize, detail));
  }
  return errors;
}

/** How many bits of chance it takes to deal a hand. */
function hashBits(deck: number, hand: number): number {
  const log = Array.from({ length: hand }, (_, index) => Math.log2(deck - index)).reduce((sum, bits) => sum + bits, 0);
  return Math.ceil(log);
}

function statusErrors(object: WorkingObject): FieldError[] {
  const { conditions = [] } = (object["status"] ?? {}) as { conditions?: { type?: string }[] };
  return conditions.flatMap(({ type = "" }, index) => {
    const at = `status.conditions[${index}].type`;
    const isRepeated = conditions.findIndex((one) => (one.type ?? "") === type) < index;
    return [...(isRepeated ? [duplicate(at, type)] : []), ...(type === "" ? [required(at)] : [])];
  });
}
