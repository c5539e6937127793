import type { EnvVar, Volume, VolumeMount } from "konverge/kinds";
import type { ObjectStoreSpec } from "./object-store-spec.ts";

/** An object store with the path of one database in it. */
export type ObjectStore = ObjectStoreSpec & { readonly path: string };

const FOLDER = "/store";
const VOLUME = "store";

/** The store with its path, which is made of a database's name unless it is given. */
export function objectStoreOf(
  spec: ObjectStoreSpec,
  database: { namespace?: string | undefined; name: string },
): ObjectStore {
  return { ...spec, path: spec.path ?? `/${database.namespace}/${database.name}` };
}

/** `s3://bucket/path`, as users know it. */
export const storeAddress = ({ bucket, path }: ObjectStore) => `s3://${bucket}${path}`;

/**
 * How pods reach a store: settings of pgBackRest as variables, and the Secrets as files, from which `pgbackrest.sh` reads keys
 * for each command. Keys that change are used without a restart.
 */
export function storeEnvironment(store: ObjectStore): EnvVar[] {
  const { bucket, path, endpoint, region, encryption, ca } = store;
  const [host = "", port] = (endpoint ?? `s3.${region}.amazonaws.com`).split(":");
  const settings: Readonly<Record<string, string | undefined>> = {
    TYPE: "s3",
    PATH: path,
    S3_BUCKET: bucket,
    S3_ENDPOINT: host,
    S3_REGION: region,
    // Few servers but Amazon's have a host for each bucket.
    S3_URI_STYLE: endpoint === undefined ? "host" : "path",
    STORAGE_PORT: port,
    STORAGE_CA_FILE: ca && `${FOLDER}/ca.crt`,
    CIPHER_TYPE: encryption && "aes-256-cbc",
  };
  return [
    { name: "STORE", value: storeAddress(store) },
    { name: "STORE_SECRETS", value: FOLDER },
    ...Object.entries(settings).flatMap(([name, value]) =>
      value === undefined ? [] : [{ name: `PGBACKREST_REPO1_${name}`, value }],
    ),
  ];
}

export const storeMount: VolumeMount = { name: VOLUME, mountPath: FOLDER, readOnly: true };

export function storeVolume({ credentials, encryption, ca }: ObjectStore): Volume {
  const keysOf = (secret: ObjectStore["ca"], ...keys: string[]) =>
    secret ? [{ secret: { name: secret.secretName, items: keys.map((key) => ({ key, path: key })) } }] : [];
  const sources = [
    ...keysOf(credentials, "access-key-id", "secret-access-key"),
    ...keysOf(encryption, "passphrase"),
    ...keysOf(ca, "ca.crt"),
  ];
  return { name: VOLUME, projected: { sources } };
}
