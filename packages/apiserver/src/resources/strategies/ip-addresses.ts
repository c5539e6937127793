import { isIP } from "node:net";
import type { FieldError } from "@konverge/core";
import { invalidValue } from "@konverge/schema";

const BAD_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/** What is wrong with something that has to be an address. */
export function ipErrors(address: string, field: string): FieldError[] {
  return isIP(address) === 0 ? [invalidValue(field, address, BAD_IP)] : [];
}

/** What is wrong with an address that traffic is sent to: it has to be one of somebody else. */
export function endpointIpErrors(address: string, field: string): FieldError[] {
  const details: string[] = [];
  const lower = address.toLowerCase();
  if (address === "0.0.0.0" || /^[0:]+$/.test(address)) details.push(`may not be unspecified (${address})`);
  if (address.startsWith("127.") || /^[0:]+:0*1$/.test(address)) {
    details.push("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (address.startsWith("169.254.") || /^fe[89ab]/.test(lower)) {
    details.push("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (address.startsWith("224.0.0.") || /^ff.2:/.test(lower)) {
    details.push("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
  return details.map((detail) => invalidValue(field, address, detail));
}
