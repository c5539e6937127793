import { isIP, isIPv4, isIPv6 } from "node:net";
import type { FieldError } from "@konverge/core";
import { duplicate, invalidValue, notSupported, required } from "@konverge/schema";
import type { Service } from "../../../codec/objects.ts";
import { isHeadless } from "./service-kinds.ts";

const BAD_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/** What is wrong with a service's addresses and their families, taken together. */
export function clusterIpErrors(service: Service): FieldError[] {
  const { spec } = service;
  if (!spec || spec.type === "ExternalName") return [];
  const { clusterIP = "", clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const errors: FieldError[] = [];
  const field = "spec.clusterIPs";
  if (clusterIP !== "" && clusterIPs.length === 0) errors.push(required(field));
  else if (clusterIP !== "" && clusterIPs[0] !== clusterIP) {
    errors.push(invalidValue(field, clusterIPs, "first value must match `clusterIP`"));
  } else if (clusterIP === "" && clusterIPs.length > 0) {
    errors.push(invalidValue(field, clusterIPs, "must be empty when `clusterIP` is not specified"));
  }
  ipFamilies.forEach((family, index) => {
    const at = `spec.ipFamilies[${index}]`;
    if (family !== "IPv4" && family !== "IPv6") errors.push(notSupported(at, family, ["IPv4", "IPv6"]));
    if (ipFamilies.indexOf(family) < index) errors.push(duplicate(at, family));
  });
  const policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
  if (ipFamilyPolicy !== undefined && !policies.includes(ipFamilyPolicy)) {
    errors.push(notSupported("spec.ipFamilyPolicy", ipFamilyPolicy, policies));
  }
  let isBroken = false;
  clusterIPs.forEach((address, index) => {
    if (index === 0 && address === "None") {
      if (clusterIPs.length === 1) return;
      isBroken = true;
      errors.push(invalidValue(field, clusterIPs, "'None' must be the first and only value"));
    } else if (isIP(address) === 0) {
      isBroken = true;
      errors.push(invalidValue(`${field}[${index}]`, address, BAD_IP));
    }
  });
  if (clusterIPs.length > 2) errors.push(invalidValue(field, clusterIPs, "may only hold up to 2 values"));
  if (isBroken) return errors;
  if (clusterIPs.length > 1 && new Set(clusterIPs.map(isIP)).size !== clusterIPs.length) {
    errors.push(invalidValue(field, clusterIPs, "may specify no more than one IP for each IP family"));
  }
  if (isHeadless(service)) return errors;
  clusterIPs.forEach((address, index) => {
    const family = ipFamilies[index];
    if ((family === "IPv4" && isIPv6(address)) || (family === "IPv6" && isIPv4(address))) {
      const detail = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
      errors.push(invalidValue(`${field}[${index}]`, address, detail));
    }
  });
  return errors;
}
