import { ApiError, type ApiRequest, type ApiResponse, methodNotAllowed, notFound } from "@konverge/core";
import { contentType } from "../http/bodies.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { ResourceDefinition, ResourceVersion } from "../resources/definition.ts";
import { patchTypes } from "./patch.ts";

const COLLECTION_METHODS = ["GET", "POST", "DELETE"];
const OBJECT_METHODS = ["GET", "PUT", "PATCH", "DELETE"];

/** Throws 404 where a resource has no such path, and 405 where the path does not take the method. */
export function checkRoute(
  { method }: ApiRequest,
  info: RequestInfo,
  definition: ResourceDefinition,
  version: ResourceVersion,
): void {
  const { name, subresource, namespace, verb, rest } = info;
  const isOutside = definition.namespaced && namespace === "";
  if (verb === "proxy" || isInNamespace(info, definition)) throw noSuchPath();
  if (verb === "watch" && method !== "GET") throw notAllowed(definition, verb);
  if (subresource !== "" && name === "") throw noSuchPath();
  if (rest !== "" && subresource !== "proxy" && !definition.custom) throw noSuchPath();
  if (name !== "" && isOutside && verb !== "watch") throw noSuchPath();
  if (subresource !== "") {
    const found = version.subresources.get(subresource);
    if (!found) throw definition.custom ? notFound(definition, name) : noSuchPath();
    if (!found.verbs.includes(verb) || method === "HEAD") throw notAllowed(definition, verb);
    return;
  }
  const methods = name !== "" ? OBJECT_METHODS : isOutside ? ["GET"] : COLLECTION_METHODS;
  if (!methods.includes(method) || !version.verbs.includes(verb)) throw notAllowed(definition, verb);
}

/**
 * Whether a path has a cluster-scoped resource in a namespace. It was authorized for the namespace, which permits nothing in the
 * cluster. Namespaces themselves are authorized in the namespace of their name.
 */
export function isInNamespace(
  { namespace, name }: RequestInfo,
  { namespaced, group, plural }: ResourceDefinition,
): boolean {
  const home = group === "" && plural === "namespaces" ? name : "";
  return !namespaced && namespace !== "" && namespace !== home;
}

/** Patches of built-in resources are routed by media type before anything else is said about them. */
export function checkPatchRoute(request: ApiRequest, { verb }: RequestInfo, definition: ResourceDefinition): void {
  if (verb !== "patch" || definition.custom || patchTypes({ definition }).includes(contentType(request))) return;
  const reason = "UnsupportedMediaType";
  throw new ApiError({ code: 415, reason, message: "415: Unsupported Media Type", details: {} });
}

/** The answer to a path under which there is nothing. */
export function noSuchPath(): ApiError {
  return new ApiError({
    code: 404,
    reason: "NotFound",
    message: "the server could not find the requested resource",
    details: {},
  });
}

/** The answer to a path that no part of the server knows. */
export function pageNotFound(): ApiResponse {
  return { status: 404, headers: { "content-type": "text/plain; charset=utf-8" }, body: "404 page not found\n" };
}

function notAllowed(definition: ResourceDefinition, verb: string): ApiError {
  if (definition.custom) return methodNotAllowed(definition, verb);
  return new ApiError({
    code: 405,
    reason: "MethodNotAllowed",
    message: "the server does not allow this method on the requested resource",
    details: {},
  });
}
