import type { AnyObject, KubeObject } from "./object.ts";

/** Group, version and kind: the name of a type of object. The core group is the empty string. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** What a client has to know about a kind: group, version, kind, plural and scope. `T` is the type of its objects. */
export interface KindRef<T extends KubeObject = AnyObject> extends GroupVersionKind {
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set: carries the object's type. */
  readonly __type?: T;
}

/** The type of the objects of a kind: `ObjectOf<typeof Deployment>`. */
export type ObjectOf<K> = K extends KindRef<infer T> ? T : never;

/** `apps/v1`, or `v1` for the core group. */
export function apiVersionOf(gvk: { group: string; version: string }): string {
  return gvk.group === "" ? gvk.version : `${gvk.group}/${gvk.version}`;
}

/** The group and version that an `apiVersion` names. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } {
  const slash = apiVersion.indexOf("/");
  return slash < 0
    ? { group: "", version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** The kind of an object, from its apiVersion and kind. */
export function gvkOf(object: { apiVersion: string; kind: string }): GroupVersionKind {
  return { ...parseApiVersion(object.apiVersion), kind: object.kind };
}

/** `Deployment.apps`, as kubectl and error messages write a kind. */
export function groupKindText(gvk: { group: string; kind: string }): string {
  return gvk.group === "" ? gvk.kind : `${gvk.kind}.${gvk.group}`;
}

/** `deployments.apps`, as kubectl and error messages write a resource. */
export function groupResourceText(ref: { group: string; plural: string }): string {
  return ref.group === "" ? ref.plural : `${ref.plural}.${ref.group}`;
}
