import type { RealCluster } from "@konverge/real";

/** How often each kind of request was made: `create configmaps` → 2000. */
export type Requests = Map<string, number>;

/** What the API server has counted so far. */
export async function countRequests(cluster: RealCluster): Promise<Requests> {
  const { stdout } = await cluster.kubectl(["get", "--raw", "/metrics"]);
  const counts: Requests = new Map();
  for (const line of stdout.split("\n")) {
    if (!line.startsWith("apiserver_request_total{")) continue;
    const label = (name: string) => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1] ?? "";
    const resource = label("resource");
    if (resource !== "widgets" && resource !== "configmaps") continue;
    const subresource = label("subresource");
    const what = `${label("verb").toLowerCase()} ${resource}${subresource && `/${subresource}`}`;
    counts.set(what, (counts.get(what) ?? 0) + Number(line.slice(line.lastIndexOf(" ") + 1)));
  }
  return counts;
}

const READS = /^(get|list|watch|watchlist|connect) /;

/** What was requested in between, without what the benchmark itself did. */
export function requestsBetween(before: Requests, after: Requests, own: Record<string, number>): Requests {
  const between: Requests = new Map();
  for (const [what, count] of after) {
    const difference = count - (before.get(what) ?? 0) - (own[what] ?? 0);
    if (difference !== 0) between.set(what, difference);
  }
  return between;
}

export function writesIn(requests: Requests): number {
  let sum = 0;
  for (const [what, count] of requests) if (!READS.test(what)) sum += count;
  return sum;
}

/** `2000 apply configmaps, 2000 apply widgets/status` */
export function requestText(requests: Requests): string {
  const parts = [...requests].sort(([a], [b]) => (a < b ? -1 : 1)).map(([what, count]) => `${count} ${what}`);
  return parts.length > 0 ? parts.join(", ") : "none";
}
