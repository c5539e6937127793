import { type FieldError, labelValueErrors, parseQuantity, qualifiedNameErrors } from "@konverge/core";
import { duplicate, forbidden, invalidValue, notSupported, required } from "@konverge/schema";
import type { Node, Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { BAD_CIDR, parseCidr } from "./cidrs.ts";
import { named } from "./pod-spec/checks.ts";
import { TAINT_EFFECTS } from "./pod-spec/scheduling.ts";

type Spec = NonNullable<Node["spec"]>;
type Status = NonNullable<Node["status"]>;

/** Nodes report themselves: their status may come with them. */
export const node: Strategy = {
  createsStatus: true,
  defaults({ spec, status }: Stored<Node>) {
    if (spec) alignPodCidrs(spec);
    if (status?.capacity && !status.allocatable) status.allocatable = { ...status.capacity };
  },
  prepareForCreate({ spec, status }: Stored<Node>) {
    // Nodes take no configuration from objects any more.
    if (spec) delete spec.configSource;
    if (status) delete status.config;
  },
  prepareForUpdate({ spec }: Stored<Node>, old: Stored<Node>, { subresource }) {
    if (subresource === "" && spec && old.spec?.configSource === undefined) delete spec.configSource;
  },
  validate: ({ spec, status }: Stored<Node>) => [
    ...taintErrors(spec?.taints ?? []),
    ...resourceErrors(status),
    ...swapErrors(status),
    ...featureErrors(status),
    ...podCidrErrors(spec?.podCIDRs ?? []),
  ],
  validateUpdate: changeErrors,
  validateStatusUpdate: changeErrors,
  warnings: ({ spec }: Stored<Node>, { subresource }) =>
    subresource === "" && spec?.externalID
      ? ["spec.externalID: this field is deprecated, and is unused by Kubernetes"]
      : [],
  fields: ({ spec }: Stored<Node>) => ({ "spec.unschedulable": String(spec?.unschedulable ?? false) }),
};

/** The older name is the first of the newer list, and counts where they differ. */
function alignPodCidrs(spec: Spec): void {
  if (spec.podCIDR) {
    if (spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR];
  } else if (spec.podCIDRs?.length) spec.podCIDR = spec.podCIDRs[0]!;
}

function changeErrors({ spec = {}, status }: Stored<Node>, { spec: before = {} }: Stored<Node>): FieldError[] {
  const errors = [...resourceErrors(status), ...featureErrors(status)];
  const addresses = new Set<string>();
  for (const [index, { type, address }] of (status?.addresses ?? []).entries()) {
    const key = `${type} ${address}`;
    if (addresses.has(key)) errors.push(goDuplicate(`status.addresses[${index}]`, { Type: type, Address: address }));
    addresses.add(key);
  }
  const [now, had] = [spec.podCIDRs ?? [], before.podCIDRs ?? []];
  const changed = had.length === now.length ? had.filter((cidr, index) => cidr !== now[index]).length : 1;
  for (let count = had.length > 0 ? changed : 0; count > 0; count--) {
    errors.push(forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid'));
  }
  if (before.providerID && spec.providerID !== before.providerID) {
    errors.push(forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid'));
  }
  errors.push(...taintErrors(spec.taints ?? []));
  if ((spec.externalID ?? "") !== (before.externalID ?? "")) {
    errors.push(forbidden("spec.externalID", "may not be updated"));
  }
  return errors;
}

/** Taints are found in the metadata by these errors, as in kube-apiserver. */
function taintErrors(taints: NonNullable<Spec["taints"]>): FieldError[] {
  const listed = new Set<string>();
  return taints.flatMap(({ key = "", value = "", effect = "" }, index) => {
    const at = `metadata.taints[${index}]`;
    const errors = named(`${at}.key`, key, qualifiedNameErrors(key));
    const problems = labelValueErrors(value);
    if (problems.length > 0) errors.push(invalidValue(`${at}.value`, value, problems.join(";")));
    if (effect === "") errors.push(required(`${at}.effect`));
    else if (!TAINT_EFFECTS.includes(effect)) errors.push(notSupported(`${at}.effect`, effect, TAINT_EFFECTS));
    const pair = `${effect} ${key}`;
    if (listed.has(pair)) {
      const shown = { Key: key, Value: value, Effect: effect, TimeAdded: null };
      errors.push(goDuplicate(at, shown, ": taints must be unique by key and effect pair"));
    }
    listed.add(pair);
    return errors;
  });
}

/** Go shows structs with the names and in the order that their fields have there. */
function goDuplicate(field: string, shown: object, detail = ""): FieldError {
  return { reason: "FieldValueDuplicate", field, message: `Duplicate value: ${JSON.stringify(shown)}${detail}` };
}

const WHOLE = new Set([
  "pods",
  "services",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
]);

function resourceErrors(status: Status | undefined): FieldError[] {
  return (["capacity", "allocatable"] as const).flatMap((list) =>
    Object.entries(status?.[list] ?? {}).flatMap(([name, amount]) => {
      const field = `status.${list}.${name}`;
      const quantity = parseQuantity(String(amount));
      if (quantity.sign() < 0) return [invalidValue(field, amount, "must be greater than or equal to 0")];
      const isWhole = quantity.milliValue() % 1000n === 0n;
      const isCounted = WHOLE.has(name) || (name.includes("/") && !name.split("/")[0]!.endsWith("kubernetes.io"));
      return isWhole || !isCounted ? [] : [invalidValue(field, amount, "must be an integer")];
    }),
  );
}

function swapErrors(status: Status | undefined): FieldError[] {
  const capacity = status?.nodeInfo?.swap?.capacity;
  if (capacity === undefined || Number(capacity) > 0) return [];
  return [invalidValue("metadata.nodeSwapStatus.capacity", capacity, "must be greater than zero")];
}

const FEATURE = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const FEATURE_RULE =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";

function featureErrors(status: Status | undefined): FieldError[] {
  const features = status?.declaredFeatures ?? [];
  return features.flatMap((feature, index) => {
    const at = (position: number) => `status.declaredFeatures[${position}]`;
    const refuse = (rule: string) => [
      invalidValue(at(index), feature, `invalid feature name ${JSON.stringify(feature)}: ${rule}`),
    ];
    const errors =
      feature.length > 253
        ? refuse("must be no more than 253 characters")
        : FEATURE.test(feature)
          ? []
          : refuse(FEATURE_RULE);
    const next = features[index + 1];
    if (next === feature) errors.push(duplicate(at(index + 1), next));
    else if (next !== undefined && feature > next) {
      errors.push(invalidValue(at(index + 1), next, "list must be sorted alphabetically"));
    }
    return errors;
  });
}

function podCidrErrors(cidrs: readonly string[]): FieldError[] {
  const families = cidrs.map((cidr) => parseCidr(cidr)?.family);
  const errors = cidrs.flatMap((cidr, index) =>
    families[index] ? [] : [invalidValue(`spec.podCIDRs[${index}]`, cidr, BAD_CIDR)],
  );
  if (cidrs.length < 2) return errors;
  const bad = families.indexOf(undefined);
  if (bad >= 0) {
    const why = `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[${bad}]: <nil> (invalid CIDR address: ${cidrs[bad]})`;
    errors.push({ reason: "InternalError", field: "spec.podCIDRs", message: `Internal error: ${why}` });
  }
  if (bad >= 0 || cidrs.length > 2 || families[0] === families[1]) {
    errors.push(invalidValue("spec.podCIDRs", cidrs, "may specify no more than one CIDR for each IP family"));
  }
  return errors;
}
