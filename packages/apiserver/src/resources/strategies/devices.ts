import {
  append,
  cIdentifierErrors,
  deepEqual,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  labelValueErrors,
  qualifiedNameErrors,
} from "@konverge/core";
import { duplicate, invalidValue, notSupported, required, tooLong, tooMany } from "@konverge/schema";
import type { WorkingObject } from "../../codec/working-object.ts";
import type { Strategy } from "../definition.ts";
import { driverNameErrors } from "./csi.ts";
import { immutable, named } from "./pod-spec/checks.ts";

const MOST_ITEMS = 32;
const MOST_ALTERNATIVES = 8;
const MOST_DEVICES = 128;
const LONGEST_PARAMETERS = 10 * 1024;
const LONGEST_POOL = 253;
const LONGEST_ID = 32;
const NOT_A_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

interface DeviceRequest {
  name?: string;
  deviceClassName?: string;
  allocationMode?: string;
  count?: number;
  selectors?: { cel?: { expression?: string } }[];
  tolerations?: { key?: string; operator?: string; value?: string; effect?: string }[];
}

interface ClaimSpec {
  devices?: {
    requests?: { name?: string; exactly?: DeviceRequest; firstAvailable?: DeviceRequest[] }[];
    constraints?: { requests?: string[]; matchAttribute?: string; distinctAttribute?: string }[];
    config?: (Configuration & { requests?: string[] })[];
  };
}

interface Configuration {
  opaque?: { driver?: string; parameters?: unknown };
}

const specOf = <T>(object: WorkingObject) => (object["spec"] ?? {}) as T;

/** Requests for devices: what is asked does not change. */
export const resourceClaim: Strategy = {
  defaults: (object) => countDefaults(specOf<ClaimSpec>(object)),
  validate: (object) => claimErrors(specOf<ClaimSpec>(object), "spec"),
  validateChange: (object, old) => fixedSpec(object, old),
  validateStatusUpdate: () => [],
};

export const resourceClaimTemplate: Strategy = {
  defaults: (object) => countDefaults(specOf<{ spec?: ClaimSpec }>(object).spec ?? {}),
  validate: (object) => claimErrors(specOf<{ spec?: ClaimSpec }>(object).spec ?? {}, "spec.spec"),
  validateChange: (object, old) => fixedSpec(object, old),
};

function fixedSpec(object: WorkingObject, old: WorkingObject): FieldError[] {
  return deepEqual(object["spec"], old["spec"]) ? [] : [invalidValue("spec", object["spec"], "field is immutable")];
}

/** A request for an exact count that says none is for one. */
function countDefaults({ devices }: ClaimSpec): void {
  for (const { exactly, firstAvailable = [] } of devices?.requests ?? []) {
    for (const one of exactly ? [exactly, ...firstAvailable] : firstAvailable) {
      if (one.allocationMode === "ExactCount") one.count ||= 1;
    }
  }
}

/** What is wrong with each of a list, with its length, and with those that come twice. */
function each<T>(
  items: readonly T[] | undefined,
  field: string,
  most: number,
  judge: (item: T, field: string) => FieldError[],
  keyOf?: (item: T) => string,
): FieldError[] {
  const list = items ?? [];
  if (list.length > most) return [tooMany(field, list.length, most)];
  const keys = keyOf ? list.map(keyOf) : [];
  return [
    ...list.flatMap((item, index) => judge(item, `${field}[${index}]`)),
    ...keys.flatMap((key, index) => (keys.indexOf(key) < index ? [duplicate(`${field}[${index}]`, key)] : [])),
  ];
}

function claimErrors({ devices }: ClaimSpec, field: string): FieldError[] {
  const at = `${field}.devices`;
  const names = new Map(
    (devices?.requests ?? []).map(({ name = "", firstAvailable = [] }) => [
      name,
      firstAvailable.map((one) => one.name),
    ]),
  );
  const refers = (name: string, where: string): FieldError[] => {
    const [request = "", alternative, ...more] = name.split("/");
    if (more.length > 0) return [invalidValue(where, name, NOT_A_REQUEST)];
    const errors = name.split("/").flatMap((part) => labelled(part, where));
    const isKnown = names.has(request) && (alternative === undefined || names.get(request)!.includes(alternative));
    return isKnown ? errors : [...errors, invalidValue(where, name, NOT_A_REQUEST)];
  };
  const listed = (given: readonly string[] | undefined, where: string) =>
    each(given, `${where}.requests`, MOST_ITEMS, refers, (name) => name);
  return [
    ...each(devices?.requests, `${at}.requests`, MOST_ITEMS, requestErrors, ({ name = "" }) => name),
    ...each(devices?.constraints, `${at}.constraints`, MOST_ITEMS, (constraint, where) => [
      ...listed(constraint.requests, where),
      ...attributeErrors(constraint, where),
    ]),
    ...each(devices?.config, `${at}.config`, MOST_ITEMS, (config, where) => [
      ...listed(config.requests, where),
      ...configurationErrors(config, where),
    ]),
  ];
}

function labelled(name: string, field: string): FieldError[] {
  return name === "" ? [required(field)] : named(field, name, dns1123LabelErrors(name));
}

type Constraint = NonNullable<NonNullable<ClaimSpec["devices"]>["constraints"]>[number];

function attributeErrors({ matchAttribute, distinctAttribute }: Constraint, field: string): FieldError[] {
  if (matchAttribute !== undefined) return attributeNameErrors(matchAttribute, `${field}.matchAttribute`);
  if (distinctAttribute !== undefined) return attributeNameErrors(distinctAttribute, `${field}.distinctAttribute`);
  // So it says, also when neither is set.
  const detail = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
  return [required(field, detail)];
}

/** A domain, and an identifier in it. */
function attributeNameErrors(name: string, field: string): FieldError[] {
  const [domain = "", id = "", ...more] = name.includes("/") ? name.split("/") : [undefined, name];
  const errors: FieldError[] = [];
  if (name.includes("/") && more.length === 0) {
    if (domain === "") errors.push(invalidValue(field, "", "the domain must not be empty"));
    else append(errors, driverNameErrors(domain, field));
  }
  if (id === "" && more.length === 0) errors.push(invalidValue(field, "", "the name must not be empty"));
  else if (more.length === 0) {
    if (id.length > LONGEST_ID) errors.push(tooLong(field, LONGEST_ID));
    append(errors, named(field, id, cIdentifierErrors(id)));
  }
  if (name.includes("/")) return errors;
  const detail = "a fully qualified name must be a domain and a name separated by a slash";
  return [...errors, invalidValue(field, name, detail)];
}

type Request = NonNullable<NonNullable<ClaimSpec["devices"]>["requests"]>[number];

function requestErrors({ name = "", exactly, firstAvailable = [] }: Request, field: string): FieldError[] {
  const errors = labelled(name, `${field}.name`);
  const one = "exactly one of `exactly` or `firstAvailable` is required";
  if (!exactly && firstAvailable.length === 0) return [...errors, required(field, one)];
  if (exactly && firstAvailable.length > 0) {
    return [...errors, invalidValue(field, null, `${one}, but multiple fields are set`)];
  }
  if (exactly) return [...errors, ...deviceErrors(exactly, `${field}.exactly`)];
  const judge = (sub: DeviceRequest, where: string) => [
    ...labelled(sub.name ?? "", `${where}.name`),
    ...deviceErrors(sub, where),
  ];
  const subs = each(firstAvailable, `${field}.firstAvailable`, MOST_ALTERNATIVES, judge, (sub) => sub.name ?? "");
  return [...errors, ...subs];
}

function deviceErrors(request: DeviceRequest, field: string): FieldError[] {
  const { deviceClassName = "", allocationMode = "", count = 0, selectors, tolerations = [] } = request;
  const errors =
    deviceClassName === ""
      ? [required(`${field}.deviceClassName`)]
      : named(`${field}.deviceClassName`, deviceClassName, dns1123SubdomainErrors(deviceClassName));
  append(errors, selectorErrors(selectors, `${field}.selectors`));
  if (allocationMode === "All") {
    const detail = "must not be specified when allocationMode is 'All'";
    if (count !== 0) errors.push(invalidValue(`${field}.count`, count, detail));
  } else if (allocationMode === "ExactCount") {
    if (count <= 0) errors.push(invalidValue(`${field}.count`, count, "must be greater than zero"));
  } else errors.push(notSupported(`${field}.allocationMode`, allocationMode, ["All", "ExactCount"]));
  tolerations.forEach(({ key = "", operator = "", value = "", effect = "" }, index) => {
    const at = `${field}.tolerations[${index}]`;
    if (key !== "") append(errors, named(`${at}.key`, key, qualifiedNameErrors(key)));
    if (operator === "Exists") {
      if (value !== "") errors.push(invalidValue(`${at}.value`, value, "must be empty for operator `Exists`"));
    } else if (operator === "Equal") append(errors, named(`${at}.value`, value, labelValueErrors(value)));
    else if (operator === "") errors.push(required(`${at}.operator`));
    else errors.push(notSupported(`${at}.operator`, operator, ["Equal", "Exists"]));
    const effects = ["NoExecute", "NoSchedule", "None"];
    if (effect !== "" && !effects.includes(effect)) errors.push(notSupported(`${at}.effect`, effect, effects));
  });
  return errors;
}

function selectorErrors(selectors: DeviceRequest["selectors"], field: string): FieldError[] {
  return each(selectors, field, MOST_ITEMS, ({ cel }, where) => (cel ? [] : [required(`${where}.cel`)]));
}

function configurationErrors({ opaque }: Configuration, field: string): FieldError[] {
  const at = `${field}.opaque`;
  if (!opaque) return [required(at)];
  const errors = driverNameErrors(opaque.driver ?? "", `${at}.driver`);
  const { parameters } = opaque;
  if (parameters === undefined || parameters === null) return [...errors, required(`${at}.parameters`)];
  if (JSON.stringify(parameters).length > LONGEST_PARAMETERS) {
    return [...errors, tooLong(`${at}.parameters`, LONGEST_PARAMETERS)];
  }
  const isObject = typeof parameters === "object" && !Array.isArray(parameters);
  return isObject
    ? errors
    : [...errors, invalidValue(`${at}.parameters`, "<value omitted>", "must be a valid JSON object")];
}

interface ClassSpec {
  selectors?: DeviceRequest["selectors"];
  config?: Configuration[];
  extendedResourceName?: string;
}

/** Kinds of devices. */
export const deviceClass: Strategy = {
  validate(object) {
    const { selectors, config, extendedResourceName: name } = specOf<ClassSpec>(object);
    const isExtended = name === undefined || (name.includes("/") && !name.includes("kubernetes.io/"));
    return [
      ...selectorErrors(selectors, "spec.selectors"),
      ...each(config, "spec.config", MOST_ITEMS, configurationErrors),
      ...(isExtended
        ? []
        : [invalidValue("spec.extendedResourceName", name, "must be a valid extended resource name")]),
    ];
  },
};

interface SliceSpec {
  driver?: string;
  pool?: { name?: string; generation?: number; resourceSliceCount?: number };
  nodeName?: string;
  nodeSelector?: { nodeSelectorTerms?: unknown[] };
  allNodes?: boolean;
  perDeviceNodeSelection?: boolean;
  devices?: { name?: string }[];
  sharedCounters?: unknown[];
}

/** What devices a driver has where. */
export const resourceSlice: Strategy = {
  validate: (object) => sliceErrors(specOf<SliceSpec>(object), undefined),
  validateChange: (object, old) => sliceErrors(specOf<SliceSpec>(object), specOf<SliceSpec>(old)),
};

function sliceErrors(spec: SliceSpec, old: SliceSpec | undefined): FieldError[] {
  const { driver = "", pool = {}, nodeName, nodeSelector, allNodes, perDeviceNodeSelection, devices } = spec;
  const errors = [...driverNameErrors(driver, "spec.driver"), ...poolErrors(pool)];
  if (old) {
    append(errors, immutable("spec.pool.name", pool.name, old.pool?.name));
    append(errors, immutable("spec.driver", driver, old.driver));
    append(errors, immutable("spec.nodeName", nodeName, old.nodeName));
  }
  const given: string[] = [];
  if (nodeName) {
    given.push("`nodeName`");
    append(errors, named("spec.nodeName", nodeName, dns1123SubdomainErrors(nodeName)));
  } else if (nodeName === "") {
    errors.push(invalidValue("spec.nodeName", nodeName, "must be either unset or set to a non-empty string"));
  }
  if (nodeSelector) {
    given.push("`nodeSelector`");
    const terms = nodeSelector.nodeSelectorTerms ?? [];
    const detail = "must have exactly one node selector term";
    if (terms.length !== 1) errors.push(invalidValue("spec.nodeSelector.nodeSelectorTerms", terms, detail));
  }
  for (const [name, value] of Object.entries({ allNodes, perDeviceNodeSelection })) {
    if (value) given.push(`\`${name}\``);
    else if (value === false) errors.push(invalidValue(`spec.${name}`, value, "must be either unset or set to true"));
  }
  const one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  if (given.length === 0) errors.push(required("spec", one));
  if (given.length > 1) {
    errors.push(invalidValue("spec", `{${given.join(", ")}}`, `${one}, but multiple fields are set`));
  }
  if (spec.sharedCounters && devices) {
    errors.push(invalidValue("spec", "", "only one of `sharedCounters` or `devices` is allowed"));
  }
  const judge = ({ name = "" }: { name?: string }, where: string) => labelled(name, `${where}.name`);
  return [...errors, ...each(devices, "spec.devices", MOST_DEVICES, judge, ({ name = "" }) => name)];
}

function poolErrors({
  name = "",
  generation = 0,
  resourceSliceCount = 0,
}: NonNullable<SliceSpec["pool"]>): FieldError[] {
  const at = "spec.pool.name";
  const errors = name === "" ? [required(at)] : [];
  if (name.length > LONGEST_POOL) errors.push(tooLong(at, LONGEST_POOL));
  if (name !== "")
    append(
      errors,
      name.split("/").flatMap((part) => named(at, part, dns1123SubdomainErrors(part))),
    );
  if (resourceSliceCount <= 0) {
    errors.push(invalidValue("spec.pool.resourceSliceCount", resourceSliceCount, "must be greater than zero"));
  }
  if (generation < 0) {
    errors.push(invalidValue("spec.pool.generation", generation, "must be greater than or equal to zero"));
  }
  return errors;
}
