import type { ApiResponse } from "@konverge/core";
import type { RequestInfo } from "../http/request-info.ts";
import type { Registry } from "../resources/registry.ts";
import type { Store } from "../storage/store.ts";
import { servedGroups } from "./api-groups.ts";
import { healthAnswer, healthChecks, healthPaths } from "./health.ts";
import type { ServerMetrics } from "./metrics.ts";

/** Answers paths that are about the server itself: its version, its health and metrics, and the list of all paths. */
export function serverPaths(
  store: Store,
  registry: Registry,
  metrics: ServerMetrics,
): (info: RequestInfo) => Promise<ApiResponse | undefined> {
  const checks = healthChecks(store);
  return async (info) => {
    const { path } = info;
    if (path === "/version" || path === "/version/") return json(version(registry.facts.version));
    if (path === "/" || path === "/index.html") return json({ paths: allPaths(registry, healthPaths(checks)) });
    if (path === "/metrics") {
      const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
      return { status: 200, headers, body: metrics.text(store, registry) };
    }
    return healthAnswer(info, checks);
  };
}

function allPaths(registry: Registry, health: readonly string[]): string[] {
  const groups = servedGroups(registry).flatMap(({ group, versions }) => {
    const root = group === "" ? "/api" : `/apis/${group}`;
    return [root, ...versions.map(({ version }) => `${root}/${version}`)];
  });
  const others = ["/apis", "/apis/", "/.well-known/openid-configuration", "/metrics", "/openid/v1/jwks", "/version"];
  return [...groups, ...health, ...others, "/openapi/v2", "/openapi/v3"].sort();
}

/** What `kubectl version` shows. The Go fields name what answers in their place. */
function version(text: string) {
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
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body, undefined, 2) };
}
