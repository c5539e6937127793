import { isObject, type ObjectMeta, parseJson, qualifiedNameErrors, stringifyJson } from "@konverge/core";

/** The part of the metadata that a conversion may change. */
type Annotated = Pick<ObjectMeta, "annotations">;

/** An annotation that carries what a version of a kind has no field for. */
export interface ConversionAnnotation<V> {
  /** The annotations with `value` among them. A value with nothing in it leaves no annotation. */
  keep(metadata: Annotated, value: V | undefined): Annotated;
  /** What was kept, undefined if nothing was, and the annotations without it. */
  take(metadata: Annotated): { readonly value: V | undefined; readonly rest: Annotated };
}

/**
 * Keeps in an annotation what a version cannot hold, so that a conversion loses nothing:
 *
 * ```ts
 * const kept = conversionAnnotation<{ name?: string | undefined }>("example.com/message-v2");
 *
 * conversion: {
 *   v1: {
 *     fromStored: ({ spec: { greeting, name }, metadata }) =>
 *       ({ spec: { text: greeting }, metadata: kept.keep(metadata, { name }) }),
 *     toStored({ spec, metadata }) {
 *       const { value, rest } = kept.take(metadata);
 *       return { spec: { greeting: spec.text, ...value }, metadata: rest };
 *     },
 *   },
 * }
 * ```
 *
 * Users can edit annotations. What cannot be read counts as not kept; check what is read if a wrong value would do harm.
 */
export function conversionAnnotation<V>(name: string): ConversionAnnotation<V> {
  if (!name.includes("/") || qualifiedNameErrors(name).length > 0) {
    throw new TypeError(
      `${JSON.stringify(name)} cannot be the name of an annotation for conversions: begin it with your domain, as in example.com/name`,
    );
  }
  const without = ({ annotations = {} }: Annotated) => {
    const { [name]: text, ...others } = annotations;
    return { text, others };
  };
  return {
    keep(metadata, value) {
      const { others } = without(metadata);
      const text = isEmpty(value) ? undefined : stringifyJson(value);
      return { annotations: text === undefined ? others : { ...others, [name]: text } };
    },
    take(metadata) {
      const { text, others } = without(metadata);
      return {
        value: text === undefined ? undefined : (readable(text) as V | undefined),
        rest: { annotations: others },
      };
    },
  };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (isObject(value) && Object.values(value).every((field) => field === undefined));
}

function readable(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
