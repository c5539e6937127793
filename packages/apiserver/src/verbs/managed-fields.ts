import { apiVersionOf, headerOf } from "@konverge/core";
import { excludeFields, FieldManager } from "@konverge/schema/structured-merge";
import type { ResourceVersion } from "../resources/definition.ts";
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
  const { kind, schema } = version;
  const reset = info.subresource === "status" ? ["f:spec"] : version.subresources.has("status") ? ["f:status"] : [];
  const resetFields = Object.fromEntries(
    [...definition.versions.keys()].map((name) => [
      apiVersionOf({ group, version: name }),
      excludeFields(...reset.map((field) => [field])),
    ]),
  );
  return new FieldManager({
    kind: { group, version: version.version, kind },
    schema,
    clock,
    subresource: info.subresource,
    resetFields: reset.length > 0 ? resetFields : {},
  });
}

/** The name that managedFields records: given, or the start of the user agent as the real server does it. */
export function managerName({ info, request }: Call): string {
  const given = info.query.get("fieldManager");
  if (given) return given;
  return (headerOf(request.headers, "user-agent") ?? "").split("/")[0]!.slice(0, 128) || "unknown";
}
