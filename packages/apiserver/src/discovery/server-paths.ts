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

/** What `kubectl version` shows. The Go fields name what answers in their place. */
function version() {
  const text = kubernetesVersion();
  const [major, minor] = text.split(".") as [string, string];
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: `v${text}`,
    gitCommit: "konverge",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: `node-${process.versions.node}`,
    compiler: "v8",
    platform: `${process.platform === "win32" ? "windows" : process.platform}/${architecture}`,
  };
}

function json(body: object): ApiResponse {
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}
