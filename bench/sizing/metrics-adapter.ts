import { customMetrics, type SimulatedLoad } from "@konverge/operator-suite";

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

  readonly answer = customMetrics(
    (metric) =>
      [...this.#samples].map(([name, samples]) => {
        const mean = samples.reduce((sum, { values }) => sum + (values[metric] ?? 0), 0) / samples.length;
        return [name, `${Math.round(mean * 1000)}m`];
      }),
    () => this.#now,
  );
}

function gaugesIn(text: string): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [, name = "", value] of text.matchAll(/^(vllm:num_requests_\w+)\{[^}]*\} (\S+)$/gm))
    found[name] = Number(value);
  return found;
}
