import { type Clock, sleep } from "@konverge/core";
import type { Pod } from "@konverge/kinds";

/** Fetches metrics as text. The signal aborts it. */
export type FetchMetrics = (url: string, signal: AbortSignal) => Promise<string>;

/** Milliseconds that a server has to return its metrics. */
const TIMEOUT = 3_000;

/** The URL of a replica's metrics; undefined while it has no address. */
export function metricsUrl({ status }: Pod, port: number): string | undefined {
  const { podIP } = status ?? {};
  if (!podIP) return undefined;
  return `http://${podIP.includes(":") ? `[${podIP}]` : podIP}:${port}/metrics`;
}

/** Fetches over the network, as Prometheus does. */
export const fetchMetricsText: FetchMetrics = async (url, signal) => {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.text();
};

/** The metrics of a server, or undefined if it does not respond in time. */
export async function scrapeMetrics(
  fetchMetrics: FetchMetrics,
  url: string,
  clock: Clock,
): Promise<string | undefined> {
  const over = new AbortController();
  const late = sleep(clock, TIMEOUT, { signal: over.signal, label: `metrics of ${url}` }).then(
    () => undefined,
    () => undefined,
  );
  const answers = fetchMetrics(url, over.signal).catch(() => undefined);
  const first = await Promise.race([answers, late]);
  over.abort();
  return first;
}
