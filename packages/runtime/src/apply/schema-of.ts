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
