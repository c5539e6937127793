import type { CallOptions, ClientRequest } from "@konverge/client";
import { type KindRef, type KubeObject, parseJson } from "@konverge/core";
import type { ApiCall } from "../observe/observer.ts";
import { targetOf } from "../request-target.ts";
import type { LayeredCall } from "./layered-call.ts";

/** A raw request as the call that it amounts to, so that it is held to what holds for the verbs. */
export function rawCall({ method, path, contentType, body }: ClientRequest, options: CallOptions): LayeredCall {
  const target = targetOf(path);
  const name = target?.name;
  const verb = verbOf(method, contentType, name !== undefined);
  const { plural = path, group = "", version = "", namespace, subresource } = target ?? {};
  const kind: KindRef<KubeObject> = { group, version, kind: plural, plural, namespaced: namespace !== undefined };
  return {
    verb,
    kind,
    ...(name !== undefined ? { key: namespace === undefined ? name : `${namespace}/${name}` } : { namespace }),
    ...(subresource !== undefined && { subresource }),
    ...(body !== undefined && { body }),
    options: { ...options, dryRun: target?.query.has("dryRun") ?? false },
  };
}

/** The object in the text of an answer, if there is one. */
export function objectIn(text: string): KubeObject | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value = parseJson(text) as KubeObject;
    // Metadata alone would pass for an object without a spec.
    const whole = value.kind !== "PartialObjectMetadata" && value.metadata?.uid !== undefined;
    return whole ? value : undefined;
  } catch {
    return undefined;
  }
}

function verbOf(method: string, contentType: string | undefined, named: boolean): ApiCall["verb"] {
  switch (method) {
    case "GET":
    case "HEAD":
    case "OPTIONS":
      return named ? "get" : "list";
    case "POST":
      return "create";
    case "PUT":
      return "update";
    case "DELETE":
      return named ? "delete" : "deletecollection";
    default:
      return contentType?.includes("apply-patch") ? "apply" : "patch";
  }
}
