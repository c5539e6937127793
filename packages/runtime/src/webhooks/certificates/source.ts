import { readFile } from "node:fs/promises";
import type { Credential } from "@konverge/certificates";
import type { Client } from "@konverge/client";
import { type Clock, isAlreadyExists, isConflict, isNotFound } from "@konverge/core";
import { Secret } from "@konverge/kinds";
import { type CertificateMaterial, type CertificateRotationOptions, rotated } from "./rotation.ts";

/** A server's certificate, and the authority that clients must trust. */
export interface WebhookCertificates {
  readonly serving: Credential;
  /** PEM. Undefined: another tool sets the `caBundle`. */
  readonly bundle: string | undefined;
}

/** A source of certificates. It is called periodically, and the result can change. */
export type CertificateSource = () => Promise<WebhookCertificates>;

const RETRIES = 5;

/**
 * Certificates of a built-in certificate authority, stored in a Secret that all replicas share. The first replica that
 * finds them due renews them; the others use the result.
 */
export function builtInCertificates(
  client: Client,
  options: Omit<CertificateRotationOptions, "clock" | "name"> & {
    secret: { name: string; namespace: string };
    /** The clock for the validity of certificates. Default: the client's. */
    clock?: Clock;
  },
): CertificateSource {
  const { secret, ...more } = options;
  const key = `${secret.namespace}/${secret.name}`;
  return async () => {
    for (let attempt = 0; ; attempt++) {
      const stored = await client.get(Secret, key).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      const known = stored && materialIn(stored);
      const wanted = rotated(known, { clock: client.clock, ...more, name: secret.name });
      if (wanted === known) return wanted;
      try {
        const data = dataOf(wanted);
        if (stored) await client.update(Secret, { ...stored, data: { ...stored.data, ...data } });
        else await client.create(Secret, { metadata: { ...secret }, type: "Opaque", data });
      } catch (error) {
        // Another replica was faster: see what it made.
        if ((isConflict(error) || isAlreadyExists(error)) && attempt < RETRIES) continue;
        throw error;
      }
    }
  };
}

/** Certificates in files, as cert-manager or another tool writes and renews them. */
export function certificateFiles(files: { cert: string; key: string; ca?: string }): CertificateSource {
  return async () => {
    const text = (path: string) =>
      readFile(path, "utf8").catch((cause: Error) => {
        throw new Error(`the certificate file ${path} cannot be read: ${cause.message}`, { cause });
      });
    const [cert, key, bundle] = await Promise.all([text(files.cert), text(files.key), files.ca && text(files.ca)]);
    return { serving: { cert, key }, bundle: bundle || undefined };
  };
}

const FIELDS = ["ca.crt", "ca.key", "tls.crt", "tls.key"] as const;

function materialIn({ data = {} }: Secret): CertificateMaterial | undefined {
  const [bundle, authorityKey, cert, key] = FIELDS.map((field) => Buffer.from(data[field] ?? "", "base64").toString());
  return bundle && authorityKey && cert && key ? { bundle, authorityKey, serving: { cert, key } } : undefined;
}

function dataOf({ bundle, authorityKey, serving }: CertificateMaterial): Record<string, string> {
  const values = [bundle, authorityKey, serving.cert, serving.key];
  return Object.fromEntries(FIELDS.map((field, i) => [field, Buffer.from(values[i]!).toString("base64")]));
}
