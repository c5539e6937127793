import { type AnyObject, isObject, keyOf } from "@konverge/core";

/** Fields that name an object of a kind in the same namespace (or of a cluster-scoped kind), wherever they occur. */
const REFERENCES: Readonly<Record<string, string>> = {
  claimName: "PersistentVolumeClaim",
  priorityClassName: "PriorityClass",
  secretName: "Secret",
  serviceAccountName: "ServiceAccount",
  volumeName: "PersistentVolume",
};
/** Fields whose `name` does. */
const NAMED: Readonly<Record<string, string>> = {
  configMap: "ConfigMap",
  configMapKeyRef: "ConfigMap",
  configMapRef: "ConfigMap",
  imagePullSecrets: "Secret",
  secret: "Secret",
  secretKeyRef: "Secret",
  secretRef: "Secret",
};
const CLUSTER_SCOPED = new Set(["PersistentVolume", "PriorityClass"]);
/** Objects of these kinds go with those of the same name. */
const TWINS: Readonly<Record<string, string>> = { Service: "Endpoints" };
/** They hold for all objects of their namespace. */
const OF_NAMESPACE = new Set(["ResourceQuota", "LimitRange"]);

/** Of `candidates`, those that `kept` own or refer to, and so on. */
export function relatedObjects(kept: readonly AnyObject[], candidates: readonly AnyObject[]): AnyObject[] {
  const byName = new Map(candidates.map((object) => [`${object.kind} ${keyOf(object)}`, object]));
  const byOwner = new Map<string, AnyObject[]>();
  const ofNamespace = new Map<string, AnyObject[]>();
  for (const object of candidates) {
    for (const { uid } of object.metadata.ownerReferences ?? []) append(byOwner, uid, object);
    if (OF_NAMESPACE.has(object.kind ?? "")) append(ofNamespace, object.metadata.namespace ?? "", object);
  }
  const found = new Set<AnyObject>();
  const open = [...kept];
  const add = (object: AnyObject | undefined) => {
    if (!object || found.has(object)) return;
    found.add(object);
    open.push(object);
  };
  for (let object = open.pop(); object; object = open.pop()) {
    const { namespace = "", uid = "" } = object.metadata;
    for (const one of byOwner.get(uid) ?? []) add(one);
    for (const one of ofNamespace.get(namespace) ?? []) add(one);
    const twin = TWINS[object.kind ?? ""];
    if (twin) add(byName.get(`${twin} ${keyOf(object)}`));
    for (const [kind, name] of referencesIn(object)) {
      const key = CLUSTER_SCOPED.has(kind) || namespace === "" ? name : `${namespace}/${name}`;
      add(byName.get(`${kind} ${key}`));
    }
  }
  return [...found];
}

function* referencesIn(value: unknown): Generator<[kind: string, name: string]> {
  if (Array.isArray(value)) for (const item of value) yield* referencesIn(item);
  if (!isObject(value)) return;
  for (const [field, inner] of Object.entries(value)) {
    if (field === "managedFields") continue;
    if (typeof inner === "string" && REFERENCES[field]) yield [REFERENCES[field], inner];
    const kind = NAMED[field];
    for (const one of kind ? [inner].flat() : []) {
      if (isObject(one) && typeof one["name"] === "string") yield [kind!, one["name"]];
    }
    yield* referencesIn(inner);
  }
}

function append<K>(lists: Map<K, AnyObject[]>, key: K, object: AnyObject): void {
  const list = lists.get(key);
  if (list) list.push(object);
  else lists.set(key, [object]);
}
