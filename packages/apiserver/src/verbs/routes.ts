import { ApiError, type ApiRequest, type ApiResponse } from "@konverge/core";
import type { RequestInfo } from "../http/request-info.ts";
import type { ResourceDefinition, ResourceVersion } from "../resources/definition.ts";

const COLLECTION_METHODS = ["GET", "POST", "DELETE"];
const OBJECT_METHODS = ["GET", "PUT", "PATCH", "DELETE"];

/** Throws 404 where a resource has no such path, and 405 where the path does not take the method. */
export function checkRoute(
  { method }: ApiRequest,
  info: RequestInfo,
  definition: ResourceDefinition,
  version: ResourceVersion,
): void {
  const { name, subresource, namespace, verb } = info;
  const isOutside = definition.namespaced && namespace === "";
  if (name !== "" && isOutside && verb !== "watch") throw noSuchPath();
  if (subresource !== "") {
    const found = version.subresources.get(subresource);
    if (!found) throw noSuchPath();
    if (!found.verbs.includes(verb) || method === "HEAD") throw methodNotAllowed();
    return;
  }
  const methods = name !== "" ? OBJECT_METHODS : isOutside ? ["GET"] : COLLECTION_METHODS;
  if (!methods.includes(method) || !version.verbs.includes(verb)) throw methodNotAllowed();
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

function methodNotAllowed(): ApiError {
  return new ApiError({
    code: 405,
    reason: "MethodNotAllowed",
    message: "the server does not allow this method on the requested resource",
    details: {},
  });
}
