import type { ApiResponse } from "@konverge/core";
import { kubernetesVersion } from "@konverge/kinds";
import type { RequestInfo } from "../http/request-info.ts";

/** Paths that are about the server itself; undefined for those that are not. */
export function serverPath({ path }: RequestInfo): ApiResponse | undefined {
  if (path === "/version") return json(version());
  if (/^\/(healthz|livez|readyz)(\/|$)/.test(path))
    return { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, body: "ok" };
  return undefined;
}

function version() {
  const text = kubernetesVersion();
  const [major, minor] = text.split(".");
  return { major, minor, gitVersion: `v${text}`, platform: `${process.platform}/${process.arch}` };
}

function json(body: object): ApiResponse {
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}
