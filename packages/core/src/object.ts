/** The fields of every Kubernetes object, whatever its kind. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** A KubeObject whose other fields are not known to the compiler. */
export interface AnyObject extends KubeObject {
  readonly [field: string]: unknown;
}

/**
 * Metadata of a stored object. Objects that are sent to the server can lack a name (generateName), see {@link Draft};
 * metadata embedded in other objects (pod templates) is `Partial<ObjectMeta>`.
 */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly generateName?: string | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly generation?: number | undefined;
  readonly creationTimestamp?: string | undefined;
  readonly deletionTimestamp?: string | undefined;
  readonly deletionGracePeriodSeconds?: number | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly ownerReferences?: readonly OwnerReference[] | undefined;
  readonly finalizers?: readonly string[] | undefined;
  readonly managedFields?: readonly ManagedFieldsEntry[] | undefined;
  readonly selfLink?: string | undefined;
}

/** A reference to an owner. When all owners are deleted, the garbage collector deletes the object. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean | undefined;
  readonly blockOwnerDeletion?: boolean | undefined;
}

/** The fields that a field manager has set, and how. */
export interface ManagedFieldsEntry {
  readonly manager?: string | undefined;
  readonly operation?: "Apply" | "Update" | undefined;
  readonly apiVersion?: string | undefined;
  readonly time?: string | undefined;
  readonly fieldsType?: "FieldsV1" | undefined;
  readonly fieldsV1?: FieldsV1 | undefined;
  readonly subresource?: string | undefined;
}

/** The JSON form of a field set: `f:name`, `k:{"name":"x"}`, `v:"x"`, `i:0` and `.` keys. */
export interface FieldsV1 {
  readonly [path: string]: FieldsV1;
}

/** One aspect of an object's state, as its controller reports it. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number | undefined;
}

/** Metadata of a list: the version at which it was read, and the token for the next page. */
export interface ListMeta {
  readonly resourceVersion?: string | undefined;
  readonly continue?: string | undefined;
  readonly remainingItemCount?: number | undefined;
}

/** A list as a server returns it. */
export interface KubeList<T = AnyObject> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ListMeta;
  readonly items: readonly T[];
}

/**
 * An object as `Kind.draft` takes it: `apiVersion` and `kind` follow from the kind, and the status is written by its
 * controller.
 */
export type Draft<T extends KubeObject> = {
  [K in keyof T as Exclude<K, "apiVersion" | "kind" | "metadata" | "status">]: T[K];
} & {
  readonly apiVersion?: T["apiVersion"] | undefined;
  readonly kind?: T["kind"] | undefined;
  readonly metadata: T["metadata"];
};

/** As {@link Draft}, for an object whose name is generated when it is created. */
export type UnnamedDraft<T extends KubeObject> = Omit<Draft<T>, "metadata"> & {
  readonly metadata: Omit<ObjectMeta, "name"> & { readonly generateName: string; readonly name?: undefined };
};

/** An object as `Kind.new` takes it: a test may need one that has a status. */
export type NewDraft<T extends KubeObject> = Draft<T> & Pick<T, Extract<keyof T, "status">>;

/** What `Kind.draft` returns. */
export type Drafted<T extends KubeObject> = { [K in keyof T as Exclude<K, "status">]: T[K] } & MadeByKind<T>;

/**
 * Marks what a kind's `draft` and `new` return, for the compiler only. Children need this mark, because the compiler
 * checks a literal for misspelled fields only where its type is known.
 */
export declare abstract class MadeByKind<T> {
  // Protected, so that a copy with other fields (`{ ...draft, spec }`), which is not checked, does not have it. Not
  // private: published declarations leave the types of private members out.
  protected readonly "make children with Kind.draft({ ... })": T;
}

/** An object inside another, such as a template of volume claims: it need not say what it is. */
export type EmbeddedObject<T extends KubeObject> = Omit<T, "apiVersion" | "kind"> &
  Partial<Pick<T, "apiVersion" | "kind">>;

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
