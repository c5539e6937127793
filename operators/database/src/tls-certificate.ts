import {
  type Condition,
  findCondition,
  type KubeObject,
  ownerReference,
  type ReconcileContext,
  TypedKind,
} from "konverge";
import { Secret } from "konverge/kinds";
import { deepEqual, gvkOf } from "konverge/objects";
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

function certificateFor(database: Database, issuerRef: Certificate["spec"]["issuerRef"]) {
  const name = certificateName(database);
  return Certificate.draft({
    metadata: { ...metadataOf(database, name), ownerReferences: [ownerReference(gvkOf(database), database)] },
    spec: {
      secretName: name,
      dnsNames: hostsOf(database),
      usages: ["digital signature", "key encipherment", "server auth"],
      issuerRef,
    },
  });
}

/**
 * Has cert-manager issue the certificate of a database's servers, if it names an issuer; deletes what it no longer needs. Returns why
 * there is no certificate yet: it is asked again, since kinds that may not be there are not watched.
 */
export async function keepCertificate(
  database: Database,
  { client }: Pick<ReconcileContext, "client">,
): Promise<WorkloadProblem | undefined> {
  const { issuerRef } = database.spec.tls ?? {};
  const name = certificateName(database);
  const key = `${database.metadata.namespace}/${name}`;
  if (!issuerRef) {
    if (database.status?.certificateName) await client.delete(Certificate, key).catch(ignoreMissing);
    return undefined;
  }
  const wanted = certificateFor(database, issuerRef);
  // Servers go on with the certificate that they have, whatever becomes of cert-manager.
  const isIssued = async () => (await client.get(Secret, key).catch(ignoreMissing)) !== undefined;
  const live = await client.get(Certificate, key).catch(ignoreMissing);
  const applied =
    live && deepEqual(live.spec, wanted.spec)
      ? live
      : await client.apply(Certificate, wanted, { force: true }).catch(ignoreMissing);
  if (!applied) {
    if (await isIssued()) return undefined;
    const message =
      "tls.issuerRef needs cert-manager, whose kind Certificate is not installed: install it, or use secretName";
    return { reason: "CertManagerMissing", message };
  }
  const ready = findCondition(applied.status?.conditions, "Ready");
  if (ready?.status === "True" || (await isIssued())) return undefined;
  const message = `Certificate ${name} is not issued yet${ready?.message ? `: ${ready.message}` : ""}`;
  return { reason: "CertificatePending", message };
}
