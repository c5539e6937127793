import { type AnyObject, apiVersionOf, headerOf, type ManagedFieldsEntry } from "@konverge/core";
import { excludeFields, FieldManager, type FieldManagerOptions } from "@konverge/schema/structured-merge";
import type { ResourceDefinition, ResourceVersion } from "../resources/definition.ts";
import type { Call } from "./call.ts";

const managers = new WeakMap<ResourceVersion, Map<string, FieldManager>>();

/** The keeper of managedFields for the endpoint of a call. */
export function fieldManagerFor(call: Call): FieldManager {
  const { version, info } = call;
  let ofVersion = managers.get(version);
  if (!ofVersion) {
    ofVersion = new Map();
    managers.set(version, ofVersion);
  }
  let manager = ofVersion.get(info.subresource);
  if (!manager) {
    manager = makeFieldManager(call);
    ofVersion.set(info.subresource, manager);
  }
  return manager;
}

function makeFieldManager({ definition, version, info, clock }: Call): FieldManager {
  const { group } = definition;
  return new FieldManager({
    kind: { group, version: version.version, kind: version.kind },
    schema: version.schema,
    clock,
    subresource: info.subresource,
    resetFields: resetFields(definition, version, info.subresource),
    version: otherVersions(definition),
    empty: version.codec.zero,
  });
}

function resetFields(
  definition: ResourceDefinition,
  version: ResourceVersion,
  subresource: string,
): FieldManagerOptions["resetFields"] {
  const hasStatus = version.subresources.has("status");
  const usual = subresource === "status" ? ["spec"] : hasStatus && subresource === "" ? ["status"] : [];
  const paths = definition.strategy.resetFields?.(subresource) ?? usual;
  if (paths.length === 0) return {};
  const filter = excludeFields(...paths.map((path) => path.split(".").map((name) => `f:${name}`)));
  return Object.fromEntries(
    [...definition.versions.keys()].map((name) => [apiVersionOf({ group: definition.group, version: name }), filter]),
  );
}

/**
 * Fields are recorded in the version they were written in. A conversion that takes a webhook cannot be waited for here:
 * field sets are then compared as if versions differed in name alone.
 */
function otherVersions(definition: ResourceDefinition): FieldManagerOptions["version"] {
  return (apiVersion) => {
    const name = apiVersion.slice(apiVersion.indexOf("/") + 1);
    const found = definition.versions.get(name);
    if (!found || apiVersionOf({ group: definition.group, version: name }) !== apiVersion) return undefined;
    return {
      schema: found.schema,
      convert(object) {
        if (object["apiVersion"] === apiVersion) return object;
        const converted = definition.convert([object as AnyObject], apiVersion);
        return converted instanceof Promise ? { ...object, apiVersion } : converted[0]!;
      },
    };
  };
}

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** The name that managedFields records: given, or what precedes the first slash of the user agent. */
export function managerName({ info, request }: Call): string {
  const given = info.query.get("fieldManager");
  if (given) return given;
  let name = "";
  for (const character of (headerOf(request.headers, "user-agent") ?? "").split("/")[0]!) {
    if (!PRINTABLE.test(character)) continue;
    if (Buffer.byteLength(name + character) > 128) break;
    name += character;
  }
  return name;
}

/** Whether two records of ownership differ in nothing but when. */
export function sameOwnership(
  a: readonly ManagedFieldsEntry[] | undefined,
  b: readonly ManagedFieldsEntry[] | undefined,
): boolean {
  return JSON.stringify(a, withoutTime) === JSON.stringify(b, withoutTime);
}

function withoutTime(this: unknown, key: string, value: unknown): unknown {
  return key === "time" ? undefined : value;
}
