import type { SimulatedLoad } from "@konverge/operator-suite";

/** The window over which an adapter averages, as the operator does. */
const WINDOW = 60_000;

interface Sample {
  readonly at: number;
  readonly values: Readonly<Record<string, number>>;
}

/** An adapter of the custom metrics API, as Prometheus' is: gauges of each pod, averaged over a minute. */
export class MetricsAdapter {
  readonly #samples = new Map<string, Sample[]>();
  #now = 0;

  /** Scrapes these pods. */
  async scrape(load: SimulatedLoad, pods: readonly { name: string; address: string }[], now: number): Promise<void> {
    this.#now = now;
    for (const name of this.#samples.keys()) if (!pods.some((pod) => pod.name === name)) this.#samples.delete(name);
    for (const { name, address } of pods) {
      const text = await load.fetch(`http://${address}:8000/metrics`).catch(() => undefined);
      if (text === undefined) continue;
      const known = this.#samples.get(name)?.filter(({ at }) => now - at < WINDOW) ?? [];
      this.#samples.set(name, [...known, { at: now, values: gaugesIn(text) }]);
    }
  }

  readonly answer = async ({ path }: { path: string }) => {
    const segments = new URL(path, "http://localhost").pathname.split("/").map(decodeURIComponent);
    const [, , group = "", version = "", , namespace = "", , , metric = ""] = segments;
    const apiVersion = `${group}/${version}`;
    const timestamp = `${new Date(this.#now).toISOString().slice(0, 19)}Z`;
    const items = [...this.#samples].map(([name, samples]) => {
      const mean = samples.reduce((sum, { values }) => sum + (values[metric] ?? 0), 0) / samples.length;
      const describedObject = { kind: "Pod", apiVersion: "v1", namespace, name };
      return { describedObject, metric: { name: metric }, timestamp, value: `${Math.round(mean * 1000)}m` };
    });
    const body =
      namespace === ""
        ? { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersion, resources: [] }
        : { kind: "MetricValueList", apiVersion, metadata: {}, items };
    return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  };
}

function gaugesIn(text: string): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [, name = "", value] of text.matchAll(/^(vllm:num_requests_\w+)\{[^}]*\} (\S+)$/gm))
    found[name] = Number(value);
  return found;
}
