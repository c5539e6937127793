import { type ApiResponse, apiVersionOf } from "@konverge/core";
import type { RequestInfo } from "../http/request-info.ts";
import type { Registry } from "../resources/registry.ts";
import { jsonResponse } from "../verbs/finish.ts";

/** Paths that are about the server rather than about objects. */
export function discovery(registry: Registry, info: RequestInfo): ApiResponse {
  if (info.path === "/version") return jsonResponse(200, { major: "1", minor: "36", gitVersion: "v1.36.3" });
  if (/^\/(healthz|livez|readyz)(\/|$)/.test(info.path))
    return { status: 200, headers: { "content-type": "text/plain" }, body: "ok" };
  if (info.version !== "") return resourceList(registry, info);
  return jsonResponse(404, { paths: [] });
}

function resourceList(registry: Registry, { group, version }: RequestInfo): ApiResponse {
  const resources = [];
  for (const definition of registry.all()) {
    const served = definition.group === group ? definition.versions.get(version) : undefined;
    if (!served) continue;
    const { plural: name, singular: singularName, namespaced, shortNames } = definition;
    resources.push({ name, singularName, namespaced, kind: served.kind, verbs: served.verbs, shortNames });
  }
  return jsonResponse(200, {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: apiVersionOf({ group, version }),
    resources,
  });
}
