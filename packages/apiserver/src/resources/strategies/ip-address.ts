import { isIP } from "node:net";
import { deepEqual, dns1123SubdomainErrors, type FieldError, pathSegmentErrors } from "@konverge/core";
import type { IPAddress } from "@konverge/kinds";
import { invalidValue, required } from "@konverge/schema";
import type { Strategy } from "../strategy.ts";
import type { Stored } from "./objects.ts";

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
  const version = isIP(name);
  if (version === 0) {
    const isPadded = /^\d+\.\d+\.\d+\.\d+$/.test(name) && isIP(name.replaceAll(/(^|\.)0+(?=\d)/g, "$1")) === 4;
    return [isPadded ? "must not have leading 0s" : "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
  }
  if (version === 4) return [];
  const canonical = new URL(`http://[${name}]/`).hostname.slice(1, -1);
  if (canonical.startsWith("::ffff:")) return ["must not be an IPv4-mapped IPv6 address"];
  return canonical === name ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`];
}
