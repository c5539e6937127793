import {
  append,
  type FieldError,
  own,
  parseQuantity,
  type Quantity,
  type QuantityValue,
  qualifiedNameErrors,
} from "@konverge/core";
import { duplicate, forbidden, invalidValue, required } from "@konverge/schema";
import type { LimitRange, ResourceQuota, Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { named } from "./pod-spec/checks.ts";

const COUNTS = [
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
];
const AMOUNTS = ["cpu", "memory", "ephemeral-storage"];
const STANDARD = new Set([
  ...COUNTS,
  ...AMOUNTS,
  ...AMOUNTS.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  "requests.storage",
]);
const COMPUTED = ["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"];
const OF_PODS = ["pods", ...COMPUTED];
/** What a quota with a scope may count; every scope that is none of these counts anything. */
const SCOPES: Record<string, readonly string[]> = {
  Terminating: OF_PODS,
  NotTerminating: OF_PODS,
  NotBestEffort: OF_PODS,
  PriorityClass: OF_PODS,
  CrossNamespacePodAffinity: OF_PODS,
  BestEffort: ["pods"],
  VolumeAttributesClass: ["persistentvolumeclaims", "requests.storage"],
};
const CONFLICTING = [
  ["BestEffort", "NotBestEffort"],
  ["Terminating", "NotTerminating"],
];
const OF_VALUES = ["PriorityClass", "VolumeAttributesClass"];

type Spec = NonNullable<ResourceQuota["spec"]>;

/** What a namespace may have in all. */
export const resourceQuota: Strategy = {
  validate: ({ spec }: Stored<ResourceQuota>) => quotaErrors(spec ?? {}),
  validateUpdate({ spec }: Stored<ResourceQuota>, old: Stored<ResourceQuota>) {
    const [now, before] = [new Set(spec?.scopes), new Set(old.spec?.scopes)];
    if (now.size === before.size && [...now].every((scope) => before.has(scope))) return [];
    return [invalidValue("spec.scopes", spec?.scopes ?? null, "field is immutable")];
  },
  validateStatusUpdate: ({ status }: Stored<ResourceQuota>) => [
    ...amountErrors(status?.hard ?? {}, "status.hard"),
    ...amountErrors(status?.used ?? {}, "status.used"),
  ],
};

function quotaErrors({ hard = {}, scopes = [], scopeSelector }: Spec): FieldError[] {
  const errors = amountErrors(hard, "spec.hard");
  const counted = Object.keys(hard)
    .filter((name) => STANDARD.has(name))
    .sort();
  const unfit = (scope: string) => counted.filter((name) => own(SCOPES, scope)?.includes(name) === false);
  const isConflicting = (given: readonly string[]) =>
    CONFLICTING.filter((pair) => pair.every((one) => given.includes(one)));
  for (const scope of scopes) {
    if (!Object.hasOwn(SCOPES, scope)) errors.push(invalidValue("spec.scopes", scopes, "unsupported scope"));
    for (const _ of unfit(scope))
      errors.push(invalidValue("spec.scopes", scopes, "unsupported scope applied to resource"));
  }
  for (const _ of isConflicting(scopes)) errors.push(invalidValue("spec.scopes", scopes, "conflicting scopes"));
  if (!scopeSelector) return errors;
  const at = "spec.scopeSelector.matchExpressions";
  const expressions = scopeSelector.matchExpressions ?? [];
  for (const { scopeName, operator, values = [] } of expressions) {
    if (!Object.hasOwn(SCOPES, scopeName)) errors.push(invalidValue(`${at}.scopeName`, scopeName, "unsupported scope"));
    for (const _ of unfit(scopeName)) errors.push(selectorError(expressions, "unsupported scope applied to resource"));
    if (Object.hasOwn(SCOPES, scopeName) && !OF_VALUES.includes(scopeName) && operator !== "Exists") {
      const detail =
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
      errors.push(invalidValue(`${at}.operator`, operator, detail));
    }
    if (operator === "In" || operator === "NotIn") {
      const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
      if (values.length === 0) errors.push(required(`${at}.values`, detail));
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
      if (values.length > 0) errors.push(invalidValue(`${at}.values`, values, detail));
    } else errors.push(invalidValue(`${at}.operator`, operator, "not a valid selector operator"));
  }
  const names = expressions.map(({ scopeName }) => scopeName);
  for (const _ of isConflicting(names))
    errors.push(invalidValue("spec.scopes", scopes.length ? scopes : null, "conflicting scopes"));
  return errors;
}

/** Go shows a selector with the names that its fields have there. */
function selectorError(
  expressions: NonNullable<NonNullable<Spec["scopeSelector"]>["matchExpressions"]>,
  detail: string,
): FieldError {
  const shown = expressions.map(({ scopeName, operator, values = null as never }) => ({
    ScopeName: scopeName,
    Operator: operator,
    Values: values,
  }));
  const message = `Invalid value: ${JSON.stringify({ MatchExpressions: shown })}: ${detail}`;
  return { reason: "FieldValueInvalid", field: "spec.scopeSelector.matchExpressions", message };
}

function amountErrors(amounts: Record<string, QuantityValue>, field: string): FieldError[] {
  return Object.entries(amounts).flatMap(([name, text]) => {
    const at = `${field}[${name}]`;
    const errors = named(at, name, qualifiedNameErrors(name));
    if (errors.length === 0 && !name.includes("/") && !isStandard(name)) {
      errors.push(invalidValue(at, name, "must be a standard resource type or fully qualified"));
    }
    if (!name.includes("/") && !isQuota(name))
      errors.push(invalidValue(at, name, "must be a standard resource for quota"));
    const amount = parseQuantity(String(text));
    if (amount.sign() < 0) errors.push(invalidValue(at, text, "must be greater than or equal to 0"));
    const isCounted =
      COUNTS.includes(name) ||
      (name.includes("/") && !name.includes("kubernetes.io/") && !name.startsWith("requests."));
    if (isCounted && amount.milliValue() % 1000n !== 0n) errors.push(invalidValue(at, text, "must be an integer"));
    return errors;
  });
}

function isStandard(name: string): boolean {
  return isQuota(name) || name === "storage";
}

function isQuota(name: string): boolean {
  return STANDARD.has(name) || /^(requests\.)?hugepages-/.test(name);
}

type Limit = NonNullable<NonNullable<LimitRange["spec"]>["limits"]>[number];
const LIMIT_TYPES = ["Container", "PersistentVolumeClaim", "Pod"];

/** What one pod, container or claim may have. */
export const limitRange: Strategy = {
  defaults({ spec }: Stored<LimitRange>) {
    for (const limit of spec?.limits ?? []) {
      if (limit.type !== "Container") continue;
      const limits = { ...limit.max, ...limit.default };
      const requests = { ...limit.min, ...limits, ...limit.defaultRequest };
      if (Object.keys(limits).length > 0) limit.default = limits;
      if (Object.keys(requests).length > 0) limit.defaultRequest = requests;
    }
  },
  validate({ spec }: Stored<LimitRange>) {
    const limits = spec?.limits ?? [];
    return limits.flatMap((limit, index) => {
      const at = `spec.limits[${index}]`;
      const errors = typeErrors(limit.type, `${at}.type`);
      if (limits.findIndex(({ type }) => type === limit.type) < index) errors.push(duplicate(`${at}.type`, limit.type));
      return [...errors, ...limitErrors(limit, at)];
    });
  },
};

function typeErrors(type: string, field: string): FieldError[] {
  const errors = named(field, type, qualifiedNameErrors(type));
  if (errors.length > 0 || type.includes("/") || LIMIT_TYPES.includes(type)) return errors;
  return [invalidValue(field, type, "must be a standard limit type or fully qualified")];
}

function limitErrors(limit: Limit, field: string): FieldError[] {
  const { type, min = {}, max = {}, maxLimitRequestRatio = {} } = limit;
  const isPod = type === "Pod";
  const [standard, requests] = isPod ? [{}, {}] : [limit.default ?? {}, limit.defaultRequest ?? {}];
  const errors: FieldError[] = [];
  const judge = (of: Record<string, QuantityValue>, name: string) => {
    for (const key of Object.keys(of)) append(errors, nameErrors(type, key, `${field}.${name}[${key}]`));
  };
  judge(max, "max");
  judge(min, "min");
  for (const name of ["default", "defaultRequest"] as const) {
    if (!isPod) judge(limit[name] ?? {}, name);
    else if (Object.keys(limit[name] ?? {}).length > 0) {
      errors.push(forbidden(`${field}.${name}`, "may not be specified when `type` is 'Pod'"));
    }
  }
  if (type === "PersistentVolumeClaim" && min["storage"] === undefined && max["storage"] === undefined) {
    const detail = "either minimum or maximum storage value is required, but neither was provided";
    errors.push(required(`${field}.limits`, detail));
  }
  judge(maxLimitRequestRatio, "maxLimitRequestRatio");
  const read = (of: Record<string, QuantityValue>, key: string) =>
    of[key] === undefined ? undefined : parseQuantity(String(of[key]));
  for (const key of Object.keys({ ...max, ...min, ...standard, ...requests, ...maxLimitRequestRatio })) {
    const values = {
      min: read(min, key),
      max: read(max, key),
      limit: read(standard, key),
      request: read(requests, key),
      ratio: read(maxLimitRequestRatio, key),
    };
    append(errors, orderErrors(values, key, field));
  }
  return errors;
}

function nameErrors(type: string, name: string, field: string): FieldError[] {
  const errors = named(field, name, qualifiedNameErrors(name));
  if (errors.length > 0 || name.includes("/")) return errors;
  if (!isStandard(name)) errors.push(invalidValue(field, name, "must be a standard resource type or fully qualified"));
  const isOfContainers = AMOUNTS.includes(name) || name.startsWith("hugepages-");
  if ((type === "Pod" || type === "Container") && !isOfContainers) {
    errors.push(invalidValue(field, name, "must be a standard resource for containers"));
  }
  return errors;
}

interface Values {
  readonly min: Quantity | undefined;
  readonly max: Quantity | undefined;
  readonly limit: Quantity | undefined;
  readonly request: Quantity | undefined;
  readonly ratio: Quantity | undefined;
}

function orderErrors({ min, max, limit, request, ratio }: Values, key: string, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const check = (
    low: Quantity | undefined,
    high: Quantity | undefined,
    where: string,
    shown: Quantity | undefined,
    words: [string, string],
  ) => {
    if (!low || !high || low.cmp(high) <= 0) return;
    const detail = `${words[0]} value ${low} is greater than ${words[1]} value ${high}`;
    errors.push(invalidValue(`${field}.${where}[${key}]`, String(shown), detail));
  };
  check(min, max, "min", min, ["min", "max"]);
  check(min, request, "defaultRequest", request, ["min", "default request"]);
  check(request, max, "defaultRequest", request, ["default request", "max"]);
  check(request, limit, "defaultRequest", request, ["default request", "default limit"]);
  check(min, limit, "default", min, ["min", "default"]);
  check(limit, max, "default", max, ["default", "max"]);
  const at = `${field}.maxLimitRequestRatio[${key}]`;
  if (ratio && ratio.milliValue() < 1000n)
    errors.push(invalidValue(at, String(ratio), `ratio ${ratio} is less than 1`));
  if (ratio && min && max) {
    const highest = Number(max.milliValue()) / Number(min.milliValue());
    if (Number(ratio.milliValue()) / 1000 > highest) {
      errors.push(invalidValue(at, String(ratio), `ratio ${ratio} is greater than max/min = ${highest.toFixed(6)}`));
    }
  }
  const isFixed = key.includes("/") || key.startsWith("hugepages-");
  if (isFixed && limit && request && limit.cmp(request) !== 0) {
    const detail = `default value ${limit} must equal to defaultRequest value ${request} in ${key}`;
    errors.push(invalidValue(`${field}.defaultRequest[${key}]`, String(request), detail));
  }
  return errors;
}
