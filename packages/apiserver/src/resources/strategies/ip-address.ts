import { isIP } from "node:net";
import { deepEqual, dns1123SubdomainErrors, type FieldError, pathSegmentErrors } from "@konverge/core";
import type { IPAddress } from "@konverge/kinds";
import { invalidValue, required } from "@konverge/schema";
import type { Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { canonicalIPv6, ipProblem } from "./ip-addresses.ts";

/** An address of a Service, which is its name; it belongs to one object for good. */
export const ipAddress: Strategy = {
  nameErrors: addressErrors,
  validateChange({ spec }: Stored<IPAddress>, old: Stored<IPAddress>) {
    if (deepEqual(spec?.parentRef, old.spec?.parentRef)) return [];
    // Go shows the reference with the names that its fields have there.
    const { group = "", resource = "", namespace = "", name = "" } = spec?.parentRef ?? {};
    const shown = { Group: group, Resource: resource, Namespace: namespace, Name: name };
    const message = `Invalid value: ${JSON.stringify(shown)}: field is immutable`;
    return [{ reason: "FieldValueInvalid", field: "spec.parentRef", message }];
  },
  validate({ spec }: Stored<IPAddress>) {
    const { parentRef } = spec ?? {};
    if (!parentRef) return [required("spec.parentRef")];
    const { group = "", resource = "", name = "", namespace = "" } = parentRef;
    const errors: FieldError[] = [];
    const judge = (field: string, value: string, details: readonly string[]) => {
      for (const detail of details) errors.push(invalidValue(`spec.parentRef.${field}`, value, detail));
    };
    if (group !== "") judge("group", group, dns1123SubdomainErrors(group));
    if (resource === "") errors.push(required("spec.parentRef.resource"));
    else judge("resource", resource, pathSegmentErrors(resource));
    if (name === "") errors.push(required("spec.parentRef.name"));
    else judge("name", name, pathSegmentErrors(name));
    if (namespace !== "") judge("namespace", namespace, pathSegmentErrors(namespace));
    return errors;
  },
};

/** What is wrong with an address as a name: it must be one, in the form that Kubernetes writes. */
function addressErrors(name: string): string[] {
  const problem = ipProblem(name);
  if (problem) return [problem];
  if (isIP(name) === 4) return [];
  const canonical = canonicalIPv6(name);
  return canonical === name ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`];
}
