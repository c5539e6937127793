import {
  deepEqual,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  portNumberErrors,
  qualifiedNameErrors,
} from "@konverge/core";
import { invalidValue, required } from "@konverge/schema";
import type { Endpoints, Stored } from "../../codec/objects.ts";
import type { Strategy } from "../definition.ts";
import { endpointIpErrors, ipErrors, ipVersion } from "./ip-addresses.ts";
import { named, oneOf } from "./pod-spec/checks.ts";

type Subset = NonNullable<Endpoints["subsets"]>[number];
type Address = NonNullable<Subset["addresses"]>[number];
type Port = NonNullable<Subset["ports"]>[number];

/** The predecessor of EndpointSlices, which older clients still write. */
export const endpoints: Strategy = {
  validate: ({ subsets }: Stored<Endpoints>) => subsetsErrors(subsets ?? []),
  validateChange: ({ subsets }: Stored<Endpoints>, old: Stored<Endpoints>) =>
    deepEqual(subsets, old.subsets) ? [] : subsetsErrors(subsets ?? []),
};

function subsetsErrors(subsets: readonly Subset[]): FieldError[] {
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }, index) => {
    const at = `subsets[${index}]`;
    const isEmpty = addresses.length + notReadyAddresses.length === 0;
    return [
      ...(isEmpty ? [required(at, "must specify `addresses` or `notReadyAddresses`")] : []),
      ...addresses.flatMap((one, place) => addressErrors(one, `${at}.addresses[${place}]`)),
      ...notReadyAddresses.flatMap((one, place) => addressErrors(one, `${at}.notReadyAddresses[${place}]`)),
      ...ports.flatMap((one, place) => portErrors(one, ports.length > 1, `${at}.ports[${place}]`)),
    ];
  });
}

function addressErrors({ ip = "", hostname = "", nodeName }: Address, field: string): FieldError[] {
  return [
    ...ipErrors(ip, `${field}.ip`),
    ...(hostname === "" ? [] : named(`${field}.hostname`, hostname, dns1123LabelErrors(hostname))),
    ...(nodeName === undefined ? [] : named(`${field}.nodeName`, nodeName, dns1123SubdomainErrors(nodeName))),
    ...(ipVersion(ip) === 0
      ? [invalidValue(`${field}.ip`, ip, "must be a valid IP address")]
      : endpointIpErrors(ip, `${field}.ip`)),
  ];
}

function portErrors(
  { name = "", port = 0, protocol, appProtocol }: Port,
  needsName: boolean,
  field: string,
): FieldError[] {
  const errors = name === "" ? [] : named(`${field}.name`, name, dns1123LabelErrors(name));
  if (name === "" && needsName) errors.push(required(`${field}.name`));
  for (const detail of portNumberErrors(port)) errors.push(invalidValue(`${field}.port`, port, detail));
  errors.push(...oneOf(`${field}.protocol`, protocol, ["SCTP", "TCP", "UDP"]));
  if (appProtocol !== undefined) {
    errors.push(...named(`${field}.appProtocol`, appProtocol, qualifiedNameErrors(appProtocol)));
  }
  return errors;
}
