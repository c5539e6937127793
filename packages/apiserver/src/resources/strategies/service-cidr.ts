import type { FieldError } from "@konverge/core";
import type { ServiceCIDR } from "@konverge/kinds";
import { invalidValue, required } from "@konverge/schema";
import type { Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { canonicalCidr, cidrErrors, parseCidr } from "./cidrs.ts";

const IMMUTABLE = "field is immutable";
const FIELD = "spec.cidrs";

/** Where the addresses of Services come from: one range of each IP family at most, for good. */
export const serviceCidr: Strategy = {
  validate: ({ spec }: Stored<ServiceCIDR>) => cidrsErrors(spec?.cidrs ?? []),
  validateChange({ spec }: Stored<ServiceCIDR>, old: Stored<ServiceCIDR>) {
    const [now, before] = [spec?.cidrs ?? [], old.spec?.cidrs ?? []];
    const changed = before.flatMap((cidr, index) =>
      now[index] === cidr ? [] : [invalidValue(`${FIELD}[${index}]`, now[index] ?? null, IMMUTABLE)],
    );
    if (now.length === before.length) return changed;
    // A cluster may become dual-stack.
    if (before.length === 1 && now.length === 2) return [...changed, ...cidrsErrors(now)];
    return [invalidValue(FIELD, spec?.cidrs ?? null, IMMUTABLE)];
  },
  validateStatusUpdate: () => [],
  prepareForUpdate(object, old, { subresource }) {
    if (subresource !== "status") return;
    // Status alone: labels and the like are written through the object.
    const { managedFields } = object.metadata;
    const { managedFields: _before, ...kept } = old.metadata;
    const { resourceVersion } = object.metadata;
    object.metadata = { ...kept, ...(resourceVersion && { resourceVersion }), ...(managedFields && { managedFields }) };
  },
  resetFields: (subresource) => (subresource === "status" ? ["metadata", "spec"] : ["status"]),
};

function cidrsErrors(cidrs: readonly string[]): FieldError[] {
  if (cidrs.length === 0) return [required(FIELD, "at least one CIDR required")];
  // Go shows the spec with the name that its field has there.
  if (cidrs.length > 2) return [invalidValue(FIELD, { CIDRs: cidrs }, "may only hold up to 2 values")];
  const errors = cidrs.flatMap((cidr, index) => oneErrors(cidr, `${FIELD}[${index}]`));
  const [first, second] = cidrs.map((cidr) => parseCidr(cidr)?.family);
  if (first !== undefined && first === second) {
    const detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
    errors.push(invalidValue(FIELD, cidrs, detail));
  }
  return errors;
}

function oneErrors(cidr: string, field: string): FieldError[] {
  const errors = cidrErrors(cidr, field);
  if (errors.length > 0) return errors;
  const canonical = canonicalCidr(parseCidr(cidr)!);
  return canonical === cidr
    ? []
    : [invalidValue(field, cidr, `must be in canonical form (${JSON.stringify(canonical)})`)];
}
