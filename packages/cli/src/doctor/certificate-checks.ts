import { X509Certificate } from "node:crypto";
import type { Client } from "@konverge/client";
import type { Clock } from "@konverge/core";
import { Secret } from "@konverge/kinds";
import { listed } from "./examined-objects.ts";
import { type Finding, nameOf } from "./finding.ts";

/** Milliseconds before the end of a certificate in which it should have been renewed. */
const NOTICE = 7 * 86_400_000;

/** TLS Secrets whose certificate has expired or soon will. */
export async function certificateFindings(client: Client): Promise<Finding[]> {
  const secrets = await listed(client, Secret);
  return secrets.flatMap((secret) => {
    const data = secret.data?.["tls.crt"];
    const problem = data && certificateProblem(Buffer.from(data, "base64").toString(), client.clock);
    if (!problem) return [];
    const issuer = secret.metadata.annotations?.["cert-manager.io/certificate-name"];
    const fix = issuer
      ? `See why cert-manager does not renew it: kubectl describe certificate ${issuer} --namespace ${secret.metadata.namespace}`
      : "Restart the operator that uses it, which renews its own certificates, or replace the certificate.";
    return [
      {
        check: "certificates" as const,
        object: nameOf({ ...secret, kind: "Secret" }),
        problem: `its certificate ${problem}`,
        fix,
      },
    ];
  });
}

/** What is wrong with the certificates of a PEM text: the first that does not last. */
export function certificateProblem(pem: string, clock: Clock): string | undefined {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  const ends = certificates.flatMap((text) => {
    try {
      return [Date.parse(new X509Certificate(text).validTo)];
    } catch {
      return [];
    }
  });
  // A bundle has the old authority beside the new one for a while: the last to end is what counts.
  const end = Math.max(...ends);
  if (ends.length === 0 || end - clock.now() > NOTICE) return undefined;
  const day = new Date(end).toISOString().slice(0, 10);
  return end < clock.now() ? `expired on ${day}` : `expires on ${day}`;
}
