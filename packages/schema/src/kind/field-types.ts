import {
  type AnyObject,
  apiVersionOf,
  type KindRef,
  type KubeObject,
  type ObjectMeta,
  type Schema,
} from "@konverge/core";
import { z } from "zod";
import { annotation } from "./annotations.ts";

/** An integer or a string, such as a port by number or name, or a count or a percentage. */
export function intOrString() {
  return z.union([z.int(), z.string()]);
}

const QUANTITY =
  /^([+-])?([0-9]+(\.[0-9]*)?|\.[0-9]+)(([KMGTPE]i)|[numkMGTPE]|([eE]([+-])?([0-9]+(\.[0-9]*)?|\.[0-9]+)))?$/;

/** A quantity of a resource: `500m`, `1.5Gi`, `2`. */
export function quantity() {
  const numberOrText = z.union([z.int(), z.string().regex(QUANTITY)]);
  return numberOrText.check(
    annotation((schema) => {
      schema.anyOf = [{ type: "integer" }, { type: "string" }];
    }),
  );
}

/** A duration in Go's format: `1h30m`, `250ms`. In CEL rules it has the type duration. */
export function duration() {
  return z
    .string()
    .regex(/^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$/)
    .check(
      annotation((schema) => {
        schema.format = "duration";
      }),
    );
}

/**
 * A field with exactly this schema, for what Zod cannot express. `T` is the type of its values.
 *
 *     template: rawSchema<PodTemplateSpec>({ type: "object", "x-kubernetes-preserve-unknown-fields": true })
 */
export function rawSchema<T>(schema: Schema): z.ZodType<T, T> {
  const replace = annotation((target) => {
    for (const keyword of Object.keys(target)) delete (target as Record<string, unknown>)[keyword];
    Object.assign(target, schema);
  });
  return z.unknown().check(replace) as unknown as z.ZodType<T, T>;
}

/** An object whose fields the API server neither validates nor prunes; `T` is its type. */
export function opaqueObject<T extends object>(): z.ZodType<T, T> {
  return rawSchema<T>({ type: "object", "x-kubernetes-preserve-unknown-fields": true });
}

type Embedded<T extends KubeObject> = Omit<T, "metadata"> & { readonly metadata: Partial<ObjectMeta> };

/**
 * A whole Kubernetes object inside another. The API server checks that it has an apiVersion and a kind and that its
 * metadata is valid; if you pass a kind, that it is of that kind.
 */
export function embeddedObject<T extends KubeObject = AnyObject>(
  kind?: KindRef<T>,
): z.ZodType<Embedded<T>, Embedded<T>> {
  return rawSchema<Embedded<T>>({
    type: "object",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
    ...(kind && {
      properties: {
        apiVersion: { type: "string", enum: [apiVersionOf(kind)] },
        kind: { type: "string", enum: [kind.kind] },
        metadata: { type: "object" },
      },
    }),
  });
}
