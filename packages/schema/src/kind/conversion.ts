import {
  type AnyObject,
  apiVersionOf,
  deepEqual,
  isObject,
  type ObjectMeta,
  parseApiVersion,
  type Schema,
} from "@konverge/core";
import { applyDefaults } from "../structural/defaulting.ts";
import type { CrdVersion } from "./crd-object.ts";
import type { ConvertedObject, VersionConversion, VersionDefinition } from "./definition.ts";
import { DefinitionError } from "./definition-error.ts";
import { jsonCopy } from "./json-copy.ts";
import type { KindVersion } from "./kind-version.ts";

type AnyVersion = Pick<KindVersion<AnyObject, never>, "group" | "version" | "kind" | "schema">;
type AnyConversion = VersionConversion<VersionDefinition, VersionDefinition>;
type Step = (object: never) => ConvertedObject<VersionDefinition>;

/**
 * Converts objects between the versions of a kind, always by way of the stored one, so that n versions need n - 1 pairs
 * of functions. Defaults of the target version are filled in. A version without functions has the stored one's shape.
 */
export function converter(
  versions: ReadonlyMap<string, AnyVersion>,
  stored: string,
  conversions: { readonly [version: string]: AnyConversion | undefined },
): (object: AnyObject, to: string) => AnyObject {
  const step = (object: AnyObject, to: string, convert: Step | undefined): AnyObject => {
    const target = versions.get(to)!;
    const converted: Partial<ConvertedObject<VersionDefinition>> = convert?.(object as never) ?? {};
    const { labels, annotations } = { ...object.metadata, ...converted.metadata };
    const metadata = withoutEmptyMaps({ ...jsonCopy(object.metadata), labels, annotations });
    const result = { ...jsonCopy(object), ...jsonCopy(converted), apiVersion: apiVersionOf(target), metadata };
    // A conversion that leaves the status out says that there is none.
    if (convert && converted.status === undefined) delete (result as { status?: unknown }).status;
    return applyDefaults(target.schema, result);
  };
  return (object, to) => {
    const from = parseApiVersion(object.apiVersion).version;
    for (const name of [from, to]) {
      if (!versions.has(name))
        throw new Error(`${object.kind} has no version ${name}: only ${[...versions.keys()].join(", ")}`);
    }
    const source = applyDefaults(versions.get(from)!.schema, jsonCopy(object));
    if (from === to) return source;
    const hub = from === stored ? source : step(source, stored, conversions[from]?.toStored as Step | undefined);
    return to === stored ? hub : step(hub, to, conversions[to]?.fromStored as Step | undefined);
  };
}

/** No labels and an empty map of them are the same; the same holds for annotations. */
function withoutEmptyMaps({ labels = {}, annotations = {}, ...metadata }: ObjectMeta): ObjectMeta {
  return {
    ...metadata,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
}

/**
 * Throws if a served version has other fields than the stored one and no functions to convert it: the API server would then
 * drop what the other one does not have. Defaults and rules may differ.
 */
export function checkConvertible(versions: readonly CrdVersion[], conversions: object): void {
  const stored = versions.find(({ storage }) => storage)!;
  const expected = new Set(fieldsOf(stored.schema?.openAPIV3Schema));
  for (const { name, served, schema } of versions) {
    if (!served || name in conversions) continue;
    const [difference] = expected.symmetricDifference(new Set(fieldsOf(schema?.openAPIV3Schema)));
    if (difference === undefined) continue;
    const remedy = `add conversion: { ${name}: { toStored, fromStored } }, declare the same fields or set served: false`;
    throw new DefinitionError(
      `versions.${name}`,
      `differs from the stored version ${stored.name} in \`${difference}\` and has no conversion: ${remedy}`,
    );
  }
}

/** The fields of objects with their types: `spec.replicas: integer`. */
function fieldsOf(schema: Schema = {}, path = ""): string[] {
  const { type = "any", properties = {}, items, additionalProperties: values } = schema;
  return [
    `${path}: ${schema["x-kubernetes-int-or-string"] ? "int-or-string" : type}`,
    ...Object.entries(properties).flatMap(([name, field]) => fieldsOf(field, path ? `${path}.${name}` : name)),
    ...(items ? fieldsOf(items, `${path}[]`) : []),
    ...(isObject(values) ? fieldsOf(values, `${path}.*`) : []),
  ];
}

/**
 * The paths at which an object differs after it was converted to another version and back: empty if the conversion
 * loses nothing. Use it in a property test with generated objects.
 */
export function lostInConversion<T extends { apiVersion: string }>(
  kind: { convert(object: never, to: never): object },
  object: T,
  through: string,
): string[] {
  const convert = kind.convert as (object: object, to: string) => object;
  const { version } = parseApiVersion(object.apiVersion);
  const comparable = (converted: object) => {
    const { metadata, ...rest } = converted as AnyObject;
    return metadata ? { ...rest, metadata: withoutEmptyMaps(metadata) } : rest;
  };
  const [before, after] = [convert(object, version), convert(convert(object, through), version)];
  return differences(comparable(before), comparable(after), "");
}

function differences(before: unknown, after: unknown, path: string): string[] {
  if (deepEqual(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [path];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
    differences(before[name], after[name], path === "" ? name : `${path}.${name}`),
  );
}
