/** What every Kubernetes object looks like from outside, whatever its kind. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** A KubeObject whose other fields are not known to the compiler. */
export interface AnyObject extends KubeObject {
  [field: string]: unknown;
}

/**
 * Metadata of a stored object. Objects on their way to the server may lack a name (generateName), see {@link Draft};
 * metadata embedded in other objects (pod templates) is `Partial<ObjectMeta>`.
 */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  generateName?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
  selfLink?: string;
}

/** Names an owner: when the last is gone, the garbage collector removes the object. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** Which fields one manager has set, and how. */
export interface ManagedFieldsEntry {
  manager?: string;
  operation?: "Apply" | "Update";
  apiVersion?: string;
  time?: string;
  fieldsType?: "FieldsV1";
  fieldsV1?: FieldsV1;
  subresource?: string;
}

/** The JSON form of a field set: `f:name`, `k:{"name":"x"}`, `v:"x"`, `i:0` and `.` keys. */
export interface FieldsV1 {
  [path: string]: FieldsV1;
}

/** One aspect of an object's state, as its controller sees it. */
export interface Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number;
}

/** Metadata of a list: at what version it was read, and how to get the rest. */
export interface ListMeta {
  resourceVersion?: string;
  continue?: string;
  remainingItemCount?: number;
}

/** A list as a server answers with it. */
export interface KubeList<T = AnyObject> {
  apiVersion: string;
  kind: string;
  metadata: ListMeta;
  items: T[];
}

/** An object as a user writes it: the server fills in the rest of its metadata. */
export type Draft<T extends KubeObject> = Omit<T, "metadata"> & { metadata: Partial<ObjectMeta> };

/** `namespace/name`, or `name` for cluster-scoped objects. */
export type ObjectKey = string;

/** The key of an object within its kind. */
export function keyOf(object: { metadata: Pick<ObjectMeta, "name" | "namespace"> }): ObjectKey {
  const { namespace, name } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

/** The namespace and name in a key. */
export function splitKey(key: ObjectKey): { namespace?: string; name: string } {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
