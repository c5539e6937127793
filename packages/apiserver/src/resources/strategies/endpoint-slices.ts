import { isIPv4, isIPv6 } from "node:net";
import {
  append,
  deepEqual,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  labelValueErrors,
  qualifiedNameErrors,
} from "@konverge/core";
import { duplicate, invalidValue, notSupported, required, tooMany } from "@konverge/schema";
import type { EndpointSlice, Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { endpointIpErrors, ipErrors } from "./ip-addresses.ts";
import { immutable, named, oneOf } from "./pod-spec/checks.ts";

type Slice = Stored<EndpointSlice>;
type Endpoint = NonNullable<EndpointSlice["endpoints"]>[number];
type Hints = NonNullable<Endpoint["hints"]>;

const ADDRESS_TYPES = ["FQDN", "IPv4", "IPv6"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];
const MOST_ENDPOINTS = 1000;
const MOST_ADDRESSES = 100;
const MOST_HINTS = 8;

/** Slices count every change of what their readers look at, labels included. */
export const endpointSlice: Strategy = {
  changesGeneration(object: Slice, old: Slice) {
    const compared = ({ metadata, ...rest }: Slice) => ({ ...rest, labels: metadata.labels ?? {} });
    return !deepEqual(compared(object), compared(old));
  },
  prepareForCreate: (object: Slice) => dropTopology(object),
  prepareForUpdate(object: Slice, old: Slice) {
    if (!deepEqual(object.endpoints, old.endpoints)) dropTopology(object);
  },
  validate: (object: Slice) => sliceErrors(object, undefined),
  validateChange: (object: Slice, old: Slice) => [
    ...sliceErrors(object, old),
    ...immutable("addressType", object.addressType, old.addressType),
  ],
  warnings: ({ addressType }: Slice, _context, old) =>
    !old && addressType === "FQDN" ? ["spec.addressType: FQDN endpoints are deprecated"] : [],
};

/** What used to say where an endpoint is can no longer be written. */
function dropTopology({ endpoints }: Slice): void {
  for (const endpoint of endpoints ?? []) delete endpoint.deprecatedTopology;
}

function sliceErrors({ addressType, ports, endpoints }: Slice, old: Slice | undefined): FieldError[] {
  const errors = oneOf("addressType", addressType, ADDRESS_TYPES);
  const names = new Set<string>();
  ports?.forEach(({ name = "", protocol, appProtocol }, index) => {
    const at = `ports[${index}]`;
    if (name !== "") append(errors, named(`${at}.name`, name, dns1123LabelErrors(name)));
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    if (protocol === undefined) errors.push(required(`${at}.protocol`));
    else if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(`${at}.protocol`, protocol, PROTOCOLS));
    if (appProtocol !== undefined) {
      append(errors, named(`${at}.appProtocol`, appProtocol, qualifiedNameErrors(appProtocol)));
    }
  });
  if (old && deepEqual(old.endpoints, endpoints)) return errors;
  const given = endpoints ?? [];
  if (given.length > MOST_ENDPOINTS) return [...errors, tooMany("endpoints", given.length, MOST_ENDPOINTS)];
  const all = given.flatMap((one, index) => endpointErrors(one, addressType, `endpoints[${index}]`));
  return [...errors, ...all];
}

function endpointErrors(endpoint: Endpoint, type: string, field: string): FieldError[] {
  const { addresses, nodeName, hostname, hints } = endpoint;
  const at = `${field}.addresses`;
  const errors: FieldError[] = [];
  if (!addresses?.length) errors.push(required(at, "must contain at least 1 address"));
  else if (addresses.length > MOST_ADDRESSES) errors.push(tooMany(at, addresses.length, MOST_ADDRESSES));
  addresses?.forEach((address, index) => {
    append(errors, addressErrors(address, type, at, index));
  });
  if (nodeName !== undefined) append(errors, named(`${field}.nodeName`, nodeName, dns1123SubdomainErrors(nodeName)));
  if (hostname !== undefined) append(errors, named(`${field}.hostname`, hostname, dns1123LabelErrors(hostname)));
  return hints ? [...errors, ...hintErrors(hints, `${field}.hints`)] : errors;
}

function addressErrors(address: string, type: string, field: string, index: number): FieldError[] {
  const at = `${field}[${index}]`;
  if (type === "FQDN") return domainErrors(address, at);
  if (type !== "IPv4" && type !== "IPv6") return [];
  const wrong = ipErrors(address, at);
  if (wrong.length > 0) return wrong;
  const isOfType = type === "IPv4" ? isIPv4(address) : isIPv6(address);
  const errors = isOfType ? [] : [invalidValue(field, address, `must be an ${type} address`)];
  return [...errors, ...endpointIpErrors(address, at)];
}

function domainErrors(text: string, field: string): FieldError[] {
  if (text === "") return [required(field)];
  const name = text.replace(/\.$/, "");
  const problems = dns1123SubdomainErrors(name);
  if (problems.length > 0) return [invalidValue(field, name, problems.join(","))];
  const labels = name.split(".");
  if (labels.length < 2) {
    return [invalidValue(field, name, "should be a domain with at least two segments separated by dots")];
  }
  const wrong = labels.find((label) => dns1123LabelErrors(label).length > 0);
  return wrong === undefined ? [] : [invalidValue(field, wrong, dns1123LabelErrors(wrong).join(","))];
}

function hintErrors({ forZones = [], forNodes = [] }: Hints, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [name, list, rule] of [
    ["forZones", forZones, labelValueErrors],
    ["forNodes", forNodes, dns1123SubdomainErrors],
  ] as const) {
    const at = `${field}.${name}`;
    if (list.length > MOST_HINTS) return [...errors, tooMany(at, list.length, MOST_HINTS)];
    list.forEach((hint, index) => {
      const place = `${at}[${index}].name`;
      if (list.findIndex((one) => one.name === hint.name) < index) errors.push(duplicate(place, hint.name));
      append(errors, named(place, hint.name, rule(hint.name)));
    });
  }
  return errors;
}
