import { parseIp } from "@konverge/core";
import * as der from "../der/write.ts";
import { SUBJECT_ALTERNATIVE_NAME } from "../identifiers.ts";
import { extension } from "./certificate.ts";

/** The extension that lists DNS names and IP addresses. */
export function alternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) => {
    const address = parseIp(host);
    return typeof address === "string" ? der.implicit(2, Buffer.from(host)) : der.implicit(7, address.bytes);
  });
  return extension(SUBJECT_ALTERNATIVE_NAME, der.sequence(...names));
}
