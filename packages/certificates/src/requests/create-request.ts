import { generateKeyPairSync } from "node:crypto";
import * as der from "../der/write.ts";
import { EXTENSION_REQUEST } from "../identifiers.ts";
import { alternativeNames } from "../issue/alternative-names.ts";
import { distinguishedName, signed, spki } from "../issue/certificate.ts";
import { pem } from "../pem.ts";

/** A request for a certificate, and the private key that it is for, both PEM. */
export interface RequestedCredential {
  readonly request: string;
  readonly key: string;
}

/** Asks for a certificate with a new key: for a user and its groups, or for the hosts of a server. */
export function createCertificateRequest(
  commonName: string,
  organizations: readonly string[] = [],
  hosts: readonly string[] = [],
): RequestedCredential {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const extensions = () => der.sequence(alternativeNames(hosts));
  const attributes = hosts.length > 0 ? [der.sequence(der.identifier(EXTENSION_REQUEST), der.set(extensions()))] : [];
  const body = der.sequence(
    der.integer(Buffer.from([0])),
    distinguishedName(commonName, organizations),
    spki(publicKey),
    der.explicit(0, ...attributes),
  );
  return {
    request: pem("CERTIFICATE REQUEST", signed(body, privateKey)),
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}
