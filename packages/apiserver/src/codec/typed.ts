import { apiVersionOf, type GroupVersionKind, type Schema } from "@konverge/core";
import type { KubernetesFacts } from "@konverge/kinds";
import { applyDefaults } from "@konverge/schema";
import type { JsonObject } from "@konverge/schema/patch";
import type { Codec } from "./codec.ts";
import { keepReset } from "./managed-fields-reset.ts";
import { readAs, shapeOf } from "./struct-shape.ts";
import type { WorkingObject } from "./working-object.ts";

/** The codec of a built-in kind, from the facts of its definition (`apps.v1.Deployment`); by default the default version's. */
export function typedCodec(
  definition: string,
  gvk: GroupVersionKind,
  schema: () => Schema,
  facts?: KubernetesFacts,
): Codec {
  const shape = shapeOf(definition, facts);
  const apiVersion = apiVersionOf(gvk);
  let zero: JsonObject | undefined;
  // Keys keep the place of their first mention: these two come first.
  const typed = (object: unknown): WorkingObject =>
    Object.assign({ kind: gvk.kind, apiVersion }, object as WorkingObject);
  const decode: Codec["decode"] = (value, words, known) => {
    const { value: object, unknown } = readAs(shape, value, words, known);
    return { object: keepReset(typed(object), value), unknown };
  };
  return {
    decode,
    decodeMerged: (value) => decode(value, "map").object,
    applyDefaults(object) {
      applyDefaults(schema(), object);
      const { managedFields } = object.metadata ?? {};
      shape.settle(object);
      if (managedFields) object.metadata.managedFields = managedFields;
    },
    canonical: (object) => typed(shape.canonical(object)),
    get zero() {
      zero ??= shape.zero() as JsonObject;
      return zero;
    },
  };
}
