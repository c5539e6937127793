import { type AnyObject, apiVersionOf, deepCopy, deepEqual, parseApiVersion } from "@konverge/core";
import { isObject } from "../patch/index.ts";
import { applyDefaults } from "../structural/index.ts";
import type { Conversion, Converted, VersionDefinition } from "./definition.ts";
import type { KindVersion } from "./kind-version.ts";

type AnyVersion = Pick<KindVersion<AnyObject, never>, "group" | "version" | "kind" | "schema">;
type AnyConversion = Conversion<VersionDefinition, VersionDefinition>;
type Step = (object: never) => Converted<VersionDefinition>;

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
    const converted: Partial<Converted<VersionDefinition>> = convert?.(object as never) ?? {};
    const { labels, annotations } = { ...object.metadata, ...converted.metadata };
    const metadata = { ...deepCopy(object.metadata), ...(labels && { labels }), ...(annotations && { annotations }) };
    const result = { ...deepCopy(object), ...deepCopy(converted), apiVersion: apiVersionOf(target), metadata };
    // A conversion that leaves the status out says that there is none.
    if (convert && !("status" in converted)) delete (result as AnyObject)["status"];
    return applyDefaults(target.schema, result);
  };
  return (object, to) => {
    const from = parseApiVersion(object.apiVersion).version;
    for (const name of [from, to]) {
      if (!versions.has(name))
        throw new Error(`${object.kind} has no version ${name}: only ${[...versions.keys()].join(", ")}`);
    }
    if (from === to) return applyDefaults(versions.get(to)!.schema, deepCopy(object));
    const hub = from === stored ? object : step(object, stored, conversions[from]?.toStored as Step | undefined);
    return to === stored ? hub : step(hub, to, conversions[to]?.fromStored as Step | undefined);
  };
}

/**
 * The paths at which an object differs after it was converted to another version and back: none, if the conversion
 * loses nothing. Meant for a property test over generated objects.
 */
export function lostInConversion(
  kind: { convert(object: AnyObject, to: string): AnyObject },
  object: AnyObject,
  through: string,
): string[] {
  const { version } = parseApiVersion(object.apiVersion);
  const returned = kind.convert(kind.convert(object, through), version);
  return differences(kind.convert(object, version), returned, "");
}

function differences(before: unknown, after: unknown, path: string): string[] {
  if (deepEqual(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [path];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
    differences(before[name], after[name], path === "" ? name : `${path}.${name}`),
  );
}
