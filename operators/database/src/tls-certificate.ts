import { type Condition, findCondition, type KubeObject, type ReconcileContext, TypedKind } from "konverge";
import { Secret } from "konverge/kinds";
import type { WorkloadProblem } from "konverge/pods";
import type { Database } from "./database.ts";
import { ignoreMissing } from "./ignore-missing.ts";
import { certificateName, metadataOf } from "./names.ts";
import { hostsOf } from "./server-tls.ts";

/** cert-manager's kind; it need not be there. */
export const Certificate = new TypedKind<Certificate>({
  group: "cert-manager.io",
  version: "v1",
  kind: "Certificate",
  plural: "certificates",
  namespaced: true,
});
/** As much of it as is written and read here. */
export interface Certificate extends KubeObject {
  readonly spec: {
    readonly secretName: string;
    readonly dnsNames: readonly string[];
    readonly usages: readonly string[];
    readonly issuerRef: { readonly group: string; readonly kind: string; readonly name: string };
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** The certificate of a database's servers for cert-manager to issue, if the database names an issuer. */
export function certificatesFor(database: Database) {
  const { issuerRef } = database.spec.tls ?? {};
  if (!issuerRef) return [];
  const name = certificateName(database);
  return [
    Certificate.draft({
      metadata: metadataOf(database, name),
      spec: {
        secretName: name,
        dnsNames: hostsOf(database),
        usages: ["digital signature", "key encipherment", "server auth"],
        issuerRef,
      },
    }),
  ];
}

/** Why cert-manager has not issued the certificate yet; undefined if it has, or if there is none to issue. */
export async function certificateProblem(
  database: Database,
  { observed, isServed, client }: Pick<ReconcileContext, "observed" | "isServed" | "client">,
): Promise<WorkloadProblem | undefined> {
  if (!database.spec.tls?.issuerRef) return undefined;
  const name = certificateName(database);
  const ready = findCondition(observed(Certificate, name)?.status?.conditions, "Ready");
  if (ready?.status === "True") return undefined;
  // Servers go on with the certificate that they have, whatever becomes of cert-manager.
  if (await client.get(Secret, `${database.metadata.namespace}/${name}`).catch(ignoreMissing)) return undefined;
  if (!isServed(Certificate)) {
    const message =
      "tls.issuerRef needs cert-manager, whose kind Certificate is not installed: install it, or use secretName";
    return { reason: "CertManagerMissing", message };
  }
  const message = `Certificate ${name} is not issued yet${ready?.message ? `: ${ready.message}` : ""}`;
  return { reason: "CertificatePending", message };
}
