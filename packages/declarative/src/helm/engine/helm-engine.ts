import { createHash } from "node:crypto";
import { parseJson } from "@konverge/core";
import type { RenderLimits } from "./render-thread.ts";
import { type ChartFacts, type ChartSource, RenderError, type Rendered, type RenderRequest } from "./rendered.ts";
import { sharedThread } from "./shared-thread.ts";

/** How many results are kept: those of the objects of an operator that do not change. */
const KEPT = 500;

interface Response extends Partial<Omit<Rendered, "usedRandom">> {
  readonly chart?: ChartFacts;
  readonly error?: string;
}

/** Helm's own template engine. The result depends on the request alone, and is kept. */
export class HelmEngine {
  readonly #limits: RenderLimits;
  readonly #results = new Map<string, Rendered | RenderError>();

  constructor(limits: RenderLimits = {}) {
    this.#limits = limits;
  }

  /** Throws a {@link RenderError} if the chart cannot be rendered. */
  render(request: RenderRequest): Rendered {
    const input = inputOf(request);
    const key = createHash("sha256").update(input).update(`${request.now} ${request.seed}`).digest("base64");
    const known = this.#results.get(key);
    if (known) this.#results.delete(key);
    const result = known ?? this.#rendered(input, request);
    this.#results.set(key, result);
    if (this.#results.size > KEPT) this.#results.delete(this.#results.keys().next().value!);
    if (result instanceof RenderError) throw result;
    return result;
  }

  #rendered(input: string, { now, seed }: RenderRequest): Rendered | RenderError {
    const thread = sharedThread(this.#limits);
    try {
      const { output, usedRandom } = thread.run({ input: new TextEncoder().encode(input), now, seed });
      const response = parseJson(new TextDecoder().decode(output)) as Response;
      const { chart, crds = [], manifests = [], hooks = [], notes = "", missing = [], error } = response;
      if (error !== undefined || !chart)
        return new RenderError(error ?? "Helm's engine returned nothing", missing, chart);
      return { chart, crds, manifests, hooks, notes, missing, usedRandom };
    } catch (error) {
      // Not kept: what takes too long on a busy machine may not do so later.
      throw new RenderError((error as Error).message);
    }
  }
}

function inputOf({ chart, values, overrides, release, capabilities, lookups }: RenderRequest): string {
  return JSON.stringify({
    chart: chartInput(chart),
    values,
    overrides,
    release,
    capabilities,
    lookups: Object.fromEntries(lookups ?? []),
  });
}

/** Encoding a chart costs more than rendering it. */
const encoded = new WeakMap<ChartSource, object>();

function chartInput(chart: ChartSource): object {
  const known = encoded.get(chart);
  if (known) return known;
  const base64 = (data: Uint8Array) => Buffer.from(data).toString("base64");
  const made =
    "archive" in chart
      ? { archive: base64(chart.archive) }
      : { files: chart.files.map(({ name, data }) => ({ name, data: base64(data) })) };
  encoded.set(chart, made);
  return made;
}
