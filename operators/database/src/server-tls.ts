import type { ReconcileContext } from "konverge";
import { ConfigMap, type EnvVar, Secret, type Volume, type VolumeMount } from "konverge/kinds";
import { builtInCertificates } from "konverge/webhooks";
import type { Database } from "./database.ts";
import {
  authorityName,
  certificateName,
  metadataOf,
  podsServiceName,
  poolerName,
  readServiceName,
  tlsSecretName,
  writeServiceName,
} from "./names.ts";

const FOLDER = "/tls";
const VOLUME = "tls";
/** How often certificates are checked, in milliseconds: far more often than they overlap. */
export const CERTIFICATE_CHECK_INTERVAL = 6 * 3_600_000;

/**
 * Keeps the certificates of a database's servers, unless the user brings them or cert-manager issues them.
 *
 * An authority of the database's own signs them; both are in one Secret and renewed before they end, the authority with a time in
 * which the old and the new one are trusted. Servers load renewed certificates without a restart. Clients find the authority in
 * a ConfigMap: the Secret has its key.
 */
export async function tlsChildren(
  database: Database,
  { cache, client, clock }: Pick<ReconcileContext, "cache" | "client" | "clock">,
) {
  const { tls } = database.spec;
  if (!tls || tls.secretName) return [];
  const { namespace } = database.metadata;
  if (tls.issuerRef) {
    const issued = cache.get(Secret, `${namespace}/${certificateName(database)}`)?.data?.["ca.crt"];
    return issued ? [authorityFor(database, Buffer.from(issued, "base64").toString())] : [];
  }
  const secret = { name: tlsSecretName(database), namespace: namespace! };
  const { bundle = "" } = await builtInCertificates(client, { secret, hosts: hostsOf(database), clock })();
  return [
    // Only makes it the database's own: what is in it was written above.
    Secret.draft({ metadata: metadataOf(database, secret.name) }),
    authorityFor(database, bundle),
  ];
}

const authorityFor = (database: Database, bundle: string) =>
  ConfigMap.draft({ metadata: metadataOf(database, authorityName(database)), data: { "ca.crt": bundle } });

/** All names under which clients reach servers. */
export function hostsOf(database: Database): string[] {
  const { name, namespace } = database.metadata;
  const services = [name, writeServiceName(database), readServiceName(database), poolerName(database)];
  const pods = `*.${podsServiceName(database)}`;
  return [
    ...services.flatMap((one) => [one, `${one}.${namespace}`]),
    ...[...services, pods].flatMap((one) => [`${one}.${namespace}.svc`, `${one}.${namespace}.svc.cluster.local`]),
    "localhost",
  ];
}

export function tlsEnvironment({ spec }: Database): EnvVar[] {
  return spec.tls ? [{ name: "TLS", value: FOLDER }] : [];
}

export function tlsMounts({ spec }: Database): VolumeMount[] {
  return spec.tls ? [{ name: VOLUME, mountPath: FOLDER, readOnly: true }] : [];
}

export function tlsVolumes(database: Database): Volume[] {
  const { tls } = database.spec;
  if (!tls) return [];
  const items = ["tls.crt", "tls.key"].map((key) => ({ key, path: key }));
  const own = tls.issuerRef ? certificateName(database) : tlsSecretName(database);
  return [{ name: VOLUME, secret: { secretName: tls.secretName ?? own, items } }];
}
