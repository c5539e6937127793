import type { KindRef, KubeObject, Schema } from "@konverge/core";
import { builtinSchema } from "@konverge/kinds";

/** The schema of a kind, if it is known: kinds made by defineKind carry theirs, built-in ones have facts. */
export function schemaOf(kind: KindRef<KubeObject>): Schema | undefined {
  const { schema } = kind as { schema?: Schema };
  if (schema) return schema;
  try {
    return builtinSchema(kind.group, kind.version, kind.kind);
  } catch {
    return undefined;
  }
}

/** Whether it is one of Kubernetes' own kinds, which have no CustomResourceDefinition. */
export function isBuiltIn({ group, version, kind }: KindRef<KubeObject>): boolean {
  try {
    return builtinSchema(group, version, kind) !== undefined;
  } catch {
    return false;
  }
}

/** The schema of what a kind reports. Where it is not known, a status is at least a map that managers share. */
export function statusSchemaOf(kind: KindRef<KubeObject>): Schema {
  return schemaOf(kind)?.properties?.status ?? UNKNOWN_STATUS;
}

const UNKNOWN_STATUS: Schema = { type: "object" };
