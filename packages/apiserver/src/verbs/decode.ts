import { type AnyObject, apiVersionOf, badRequest } from "@konverge/core";
import { applyDefaults, prune } from "@konverge/schema";
import type { Call } from "./call.ts";

/** Makes a body the object that the verbs work on: the right kind, without unknown fields, with defaults. */
export function decodeInto(call: Call, object: AnyObject): AnyObject {
  const apiVersion = apiVersionOf({ group: call.definition.group, version: call.version.version });
  const { kind, schema } = call.version;
  object.apiVersion ??= apiVersion;
  object.kind ??= kind;
  if (object.apiVersion !== apiVersion || object.kind !== kind) {
    throw badRequest(
      `${object.kind} in version ${JSON.stringify(object.apiVersion)} cannot be handled as a ${kind}: the path of the request is for ${apiVersion}, Kind=${kind}`,
    );
  }
  object.metadata ??= { name: "" };
  prune(schema, object);
  applyDefaults(schema, object);
  call.definition.strategy.defaults?.(object);
  return object;
}
