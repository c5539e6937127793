import { createHash } from "node:crypto";
import type { AnyCrd } from "@konverge/schema";
import { HelmEngine } from "./engine/helm-engine.ts";
import type { RenderLimits } from "./engine/render-thread.ts";
import { type ChartFacts, type ChartSource, RenderError, type Rendered } from "./engine/rendered.ts";
import { type KindName, type TemplateUses, templateUses } from "./rendered-kinds.ts";

/** A chart that an operator installs. */
export interface HelmChart {
  readonly source: ChartSource;
  readonly facts: ChartFacts;
  /** Identifies its files. */
  readonly digest: string;
  readonly uses: TemplateUses;
  /** Definitions of `crds/`. */
  readonly crds: Rendered["crds"];
  readonly engine: HelmEngine;
}

/** What is known about a chart besides its files. */
export interface ChartOptions {
  readonly kinds?: readonly KindName[];
  readonly crds?: readonly AnyCrd[];
  readonly overrides?: Readonly<Record<string, string>>;
  readonly limits?: RenderLimits;
}

/**
 * Loads a chart, and finds out what its templates use. It is rendered with its defaults; one that requires more values is read, too.
 * Throws if it is not a chart.
 */
export function loadChart(source: ChartSource, { kinds, crds, overrides = {}, limits }: ChartOptions = {}): HelmChart {
  const engine = new HelmEngine(limits);
  const rendered = withDefaults(engine, source, overrides);
  return {
    source,
    facts: rendered.chart,
    digest: digestOf(source),
    uses: templateUses(rendered, { ...(kinds && { named: kinds }), ...(crds && { crds }) }),
    crds: rendered.crds,
    engine,
  };
}

function withDefaults(engine: HelmEngine, chart: ChartSource, overrides: Readonly<Record<string, string>>): Rendered {
  const release = { name: "release-name", namespace: "default", revision: 1, upgrade: false };
  try {
    return engine.render({ chart, overrides, release, now: 0, seed: "" });
  } catch (error) {
    const { chart: facts } = error as RenderError;
    if (!(error instanceof RenderError) || !facts) throw error;
    return { chart: facts, crds: [], manifests: [], hooks: [], notes: "", missing: [], usedRandom: false };
  }
}

function digestOf(source: ChartSource): string {
  const digest = createHash("sha256");
  if ("archive" in source) digest.update(source.archive);
  else for (const { name, data } of source.files) digest.update(`${name}\n${data.length}\n`).update(data);
  return digest.digest("hex").slice(0, 16);
}
