import { apiVersionOf, headerOf } from "@konverge/core";
import {
  excludeFields,
  FieldManager,
  type FieldManagerOptions,
  managedFieldsProblem,
  managerNameOf,
  withAsyncConversion,
} from "@konverge/schema/structured-merge";
import type { Call } from "../call/call.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { ResourceDefinition, ResourceVersion } from "../resources/definition.ts";
import { convertTo } from "../resources/stored-object.ts";

/** An object with the ownership it has after this request wrote it over `live` (undefined: a create). */
export function recordUpdate(
  call: Call,
  live: WorkingObject | undefined,
  next: WorkingObject,
): WorkingObject | Promise<WorkingObject> {
  return withFieldManager(call, (manager) => manager.update(live, next, managerName(call)) as WorkingObject);
}

/** What mutating admission makes of an object; if it has spoilt the record of ownership, that is as it was before. */
export async function mutated(
  call: Call,
  object: WorkingObject,
  old: WorkingObject | undefined,
  operation: "CREATE" | "UPDATE",
): Promise<WorkingObject> {
  const { managedFields } = object.metadata;
  const admitted = (await call.admission.mutate(call, object, old, operation)) ?? object;
  if (admitted.metadata.managedFields === managedFields) return admitted;
  const problem = managedFieldsProblem(admitted.metadata.managedFields);
  if (problem === undefined) return admitted;
  const what = "this could be caused by an outdated mutating admission controller; please fix your requests";
  call.warn(`.metadata.managedFields was in an invalid state after admission; ${what}: ${problem}`);
  if (managedFields) admitted.metadata.managedFields = managedFields;
  else delete admitted.metadata.managedFields;
  return admitted;
}

/** The name that managedFields records for a request. */
export function managerName({ info, request }: Call): string {
  return managerNameOf(info.query.get("fieldManager"), headerOf(request.headers, "user-agent") ?? "");
}

/** Runs something with the keeper of managedFields for the endpoint of a call. It must have no effect but its result. */
export function withFieldManager<T>(call: Call, work: (manager: FieldManager) => T): T | Promise<T> {
  const { definition } = call;
  if (!definition.convertsByWebhook) return work(keptManager(call));
  return withAsyncConversion(
    (object, apiVersion) => convertTo(definition, object as WorkingObject, apiVersion),
    (convert) => work(makeFieldManager(call, (object, apiVersion) => convert(object, apiVersion) as WorkingObject)),
  );
}

const managers = new WeakMap<ResourceVersion, Map<string, FieldManager>>();

function keptManager(call: Call): FieldManager {
  const { version, info, definition } = call;
  let ofVersion = managers.get(version);
  if (!ofVersion) {
    ofVersion = new Map();
    managers.set(version, ofVersion);
  }
  let manager = ofVersion.get(info.subresource);
  if (!manager) {
    manager = makeFieldManager(call, (object, apiVersion) => {
      const [converted] = definition.convert([object], apiVersion) as readonly WorkingObject[];
      return converted!;
    });
    ofVersion.set(info.subresource, manager);
  }
  return manager;
}

type Convert = (object: WorkingObject, apiVersion: string) => WorkingObject;

function makeFieldManager({ definition, version, info, clock }: Call, convert: Convert): FieldManager {
  const reset = resetPaths(definition, version, info.subresource);
  return new FieldManager({
    kind: { group: definition.group, version: version.version, kind: version.kind },
    schema: version.schema,
    clock,
    subresource: info.subresource,
    resetFields: resetFields(definition, reset),
    ignored: reset.filter((path) => !path.includes(".")),
    version: otherVersions(definition, convert),
    empty: version.codec.zero,
  });
}

/** Fields that no manager can own through an endpoint. */
function resetPaths(definition: ResourceDefinition, version: ResourceVersion, subresource: string): readonly string[] {
  const hasStatus = version.subresources.has("status");
  const usual = subresource === "status" ? ["spec"] : hasStatus && subresource === "" ? ["status"] : [];
  return definition.strategy.resetFields?.(subresource) ?? usual;
}

function resetFields(definition: ResourceDefinition, paths: readonly string[]): FieldManagerOptions["resetFields"] {
  if (paths.length === 0) return {};
  const filter = excludeFields(...paths.map((path) => path.split(".").map((name) => `f:${name}`)));
  return Object.fromEntries(
    [...definition.versions.keys()].map((name) => [apiVersionOf({ group: definition.group, version: name }), filter]),
  );
}

/** Fields are recorded in the version they were written in. */
function otherVersions(definition: ResourceDefinition, convert: Convert): FieldManagerOptions["version"] {
  return (apiVersion) => {
    const name = apiVersion.slice(apiVersion.indexOf("/") + 1);
    const found = definition.versions.get(name);
    if (!found || apiVersionOf({ group: definition.group, version: name }) !== apiVersion) return undefined;
    return {
      schema: found.schema,
      convert: (object) =>
        object["apiVersion"] === apiVersion ? object : convert(object as WorkingObject, apiVersion),
    };
  };
}
