import type { AnyObject } from "@konverge/core";

type Entries = Record<string, unknown>;

const CLAIM = { accessModes: ["ReadWriteMany"], resources: { requests: { storage: "10Gi" } } };

const RAY_CLUSTER = {
  headGroupSpec: {
    rayStartParams: {},
    template: { spec: { containers: [{ name: "ray-head", image: "rayproject/ray" }] } },
  },
};

const PLACEHOLDER = /^\$\{?([A-Z][A-Z0-9_]*)\}?$/;

/** Values that are a variable alone, such as ${STORAGE_CLASS_NAME}, are for the reader to fill in: with its name, as a name. */
export function filledIn<T>(value: T): T {
  if (typeof value === "string") return value.replace(PLACEHOLDER, (_, name: string) => dashed(name)) as T;
  if (Array.isArray(value)) return value.map(filledIn) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filledIn(inner)])) as T;
}

const dashed = (name: string) => name.toLowerCase().replaceAll("_", "-");

/**
 * What a manifest refers to and does not contain, because its reader is expected to make it: service accounts, secrets,
 * configuration, claims, storage and runtime classes, clusters. Each is made with every key that is named, and nothing else.
 */
export function prerequisitesOf(objects: readonly AnyObject[]): AnyObject[] {
  const found = new Map<string, AnyObject>();
  const add = (apiVersion: string, kind: string, name: unknown, more: object = {}) => {
    if (typeof name !== "string" || name === "") return;
    const contained = objects.some((one) => one.kind === kind && one.metadata.name === name);
    const id = `${kind}/${name}`;
    if (!contained && !found.has(id)) found.set(id, { apiVersion, kind, metadata: { name }, ...more } as AnyObject);
  };
  const withKey = (kind: string, name: unknown, key: unknown) => {
    add("v1", kind, name, { data: {} });
    const object = found.get(`${kind}/${name}`);
    if (object && typeof key === "string") (object["data"] as Entries)[key] = kind === "Secret" ? "dmFsdWU=" : "value";
  };
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const entries = value as Record<string, Entries & string>;
    add("v1", "ServiceAccount", entries["serviceAccountName"]);
    add("node.k8s.io/v1", "RuntimeClass", entries["runtimeClassName"], { handler: "any" });
    add("scheduling.k8s.io/v1", "PriorityClass", entries["priorityClassName"], { value: 1000 });
    add("storage.k8s.io/v1", "StorageClass", entries["storageClassName"], { provisioner: "simulated.konverge.dev" });
    // Ray's jobs run on a cluster that is there.
    add("ray.io/v1", "RayCluster", entries["clusterSelector"]?.["ray.io/cluster"], { spec: RAY_CLUSTER });
    // Fields of Dynamo graphs.
    withKey("Secret", entries["envFromSecret"], undefined);
    for (const claim of (entries["pvcs"] as unknown as Entries[] | undefined) ?? [])
      if (!claim["create"]) add("v1", "PersistentVolumeClaim", claim["name"], { spec: CLAIM });
    if (entries["compilationCache"])
      add("v1", "PersistentVolumeClaim", entries["compilationCache"]["pvcName"], { spec: CLAIM });
    for (const [field, kind] of [
      ["secretKeyRef", "Secret"],
      ["configMapKeyRef", "ConfigMap"],
    ] as const)
      if (entries[field]) withKey(kind, entries[field]["name"], entries[field]["key"]);
    if (entries["secretRef"]) withKey("Secret", entries["secretRef"]["name"], undefined);
    if (entries["configMapRef"]) withKey("ConfigMap", entries["configMapRef"]["name"], undefined);
    volumeOf(entries, add, withKey);
    for (const inner of Object.values(entries)) visit(inner);
  };
  visit(objects);
  return [...found.values()];
}

function volumeOf(
  { secret, configMap, persistentVolumeClaim: claim }: Record<string, Entries>,
  add: (apiVersion: string, kind: string, name: unknown, more: object) => void,
  withKey: (kind: string, name: unknown, key: unknown) => void,
): void {
  const keys = (source: Entries) =>
    ((source["items"] as { key: string }[] | undefined) ?? [{ key: "file" }]).map(({ key }) => key);
  if (secret?.["secretName"]) for (const key of keys(secret)) withKey("Secret", secret["secretName"], key);
  if (configMap?.["name"]) for (const key of keys(configMap)) withKey("ConfigMap", configMap["name"], key);
  if (claim?.["claimName"]) add("v1", "PersistentVolumeClaim", claim["claimName"], { spec: CLAIM });
}
