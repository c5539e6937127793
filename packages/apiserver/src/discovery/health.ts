import type { ApiResponse } from "@konverge/core";
import type { RequestInfo } from "../http/request-info.ts";
import type { Store } from "../storage/store.ts";

/** One thing that must be so for the server to be well; throws, or answers false, when it is not. */
export interface HealthCheck {
  readonly name: string;
  holds(): boolean | Promise<boolean>;
}

const ENDPOINTS = ["healthz", "livez", "readyz"] as const;

/** What is checked, by the names that a real server has for the same. */
export function healthChecks(store: Store): HealthCheck[] {
  const exists = (collection: string, key: string) => once(() => store.collection(collection).get(key) !== undefined);
  return [
    { name: "ping", holds: () => true },
    {
      name: "etcd",
      // What has been written is kept, or this throws.
      async holds() {
        await store.durable();
        return true;
      },
    },
    { name: "poststarthook/start-system-namespaces-controller", holds: exists("/namespaces", "kube-system") },
    {
      name: "poststarthook/rbac/bootstrap-roles",
      holds: exists("rbac.authorization.k8s.io/clusterroles", "cluster-admin"),
    },
    {
      name: "poststarthook/scheduling/bootstrap-system-priority-classes",
      holds: exists("scheduling.k8s.io/priorityclasses", "system-node-critical"),
    },
  ];
}

/** What is done at the start stays done, even if its object is deleted later. */
function once(holds: () => boolean): () => boolean {
  let held = false;
  return () => {
    held ||= holds();
    return held;
  };
}

/** The paths of the single checks. */
export function healthPaths(checks: readonly HealthCheck[]): string[] {
  return ENDPOINTS.flatMap((endpoint) => [`/${endpoint}`, ...checks.map(({ name }) => `/${endpoint}/${name}`)]);
}

/** Answers /healthz, /livez and /readyz: all checks, or the one that the path names; undefined for other paths. */
export async function healthAnswer(
  { path, query }: RequestInfo,
  checks: readonly HealthCheck[],
): Promise<ApiResponse | undefined> {
  const [, endpoint = "", name] = /^\/(healthz|livez|readyz)(?:\/(.+?))?\/?$/.exec(path) ?? [];
  if (endpoint === "") return undefined;
  if (name !== undefined) {
    const check = checks.find((one) => one.name === name);
    if (!check) return undefined;
    return (await isWell(check)) ? text(200, "ok") : text(500, "internal server error: reason withheld\n");
  }
  const excluded = new Set(query.getAll("exclude"));
  const lines: string[] = [];
  const failed: string[] = [];
  for (const check of checks) {
    if (excluded.delete(check.name)) lines.push(`[+]${check.name} excluded: ok`);
    else if (await isWell(check)) lines.push(`[+]${check.name} ok`);
    else {
      lines.push(`[-]${check.name} failed: reason withheld`);
      failed.push(check.name);
    }
  }
  if (excluded.size > 0) {
    const names = [...excluded].map((one) => JSON.stringify(one)).join(",");
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  if (failed.length > 0) return text(500, `${[...lines, `${endpoint} check failed`].join("\n")}\n`);
  if (!query.has("verbose")) return text(200, "ok");
  return text(200, `${[...lines, `${endpoint} check passed`].join("\n")}\n`);
}

async function isWell(check: HealthCheck): Promise<boolean> {
  try {
    return await check.holds();
  } catch {
    return false;
  }
}

function text(status: number, body: string): ApiResponse {
  return { status, headers: { "content-type": "text/plain; charset=utf-8" }, body };
}
