/** The types of the variables that policies see besides objects: the request and the namespace. */
import type { StructDeclaration } from "../types/declarations.ts";
import { BOOL, DYN, INT, listType, mapType, STRING, structType, TIMESTAMP, type Type } from "../types/types.ts";

const strings = listType(STRING);

const STRUCTS: Record<string, Record<string, Type>> = {
  "kubernetes.GroupVersionKind": { group: STRING, version: STRING, kind: STRING },
  "kubernetes.GroupVersionResource": { group: STRING, version: STRING, resource: STRING },
  "kubernetes.UserInfo": { username: STRING, uid: STRING, groups: strings, extra: mapType(STRING, strings) },
  "kubernetes.AdmissionRequest": {
    kind: structType("kubernetes.GroupVersionKind"),
    resource: structType("kubernetes.GroupVersionResource"),
    subResource: STRING,
    requestKind: structType("kubernetes.GroupVersionKind"),
    requestResource: structType("kubernetes.GroupVersionResource"),
    requestSubResource: STRING,
    name: STRING,
    namespace: STRING,
    operation: STRING,
    userInfo: structType("kubernetes.UserInfo"),
    dryRun: BOOL,
    options: DYN,
  },
  "kubernetes.NamespaceSpec": { finalizers: strings },
  "kubernetes.NamespaceCondition": {
    status: STRING,
    type: STRING,
    lastTransitionTime: TIMESTAMP,
    message: STRING,
    reason: STRING,
  },
  "kubernetes.NamespaceStatus": { conditions: listType(structType("kubernetes.NamespaceCondition")), phase: STRING },
  "kubernetes.NamespaceMetadata": {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: mapType(STRING, STRING),
    annotations: mapType(STRING, STRING),
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: strings,
  },
  "kubernetes.Namespace": {
    metadata: structType("kubernetes.NamespaceMetadata"),
    spec: structType("kubernetes.NamespaceSpec"),
    status: structType("kubernetes.NamespaceStatus"),
  },
};

/** The type of `request`. */
export const REQUEST = structType("kubernetes.AdmissionRequest");
/** The type of `namespaceObject`. */
export const NAMESPACE = structType("kubernetes.Namespace");

/** A type of the request or the namespace by name. */
export function policyStruct(name: string): StructDeclaration | undefined {
  if (!Object.hasOwn(STRUCTS, name)) return undefined;
  const fields = STRUCTS[name]!;
  return { type: structType(name), field: (field) => (Object.hasOwn(fields, field) ? fields[field] : undefined) };
}
