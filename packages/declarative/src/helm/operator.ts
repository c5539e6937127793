import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { KindRef } from "@konverge/core";
import { type Operator, operator } from "@konverge/runtime";
import { type AnyCrd, type AnyKind, crdsFromYaml, fromCRD } from "@konverge/schema";
import { readChart } from "./engine/chart-source.ts";
import type { RenderLimits } from "./engine/render-thread.ts";
import { loadChart } from "./helm-chart.ts";
import { releaseController } from "./release-controller.ts";
import { releaseDefinition } from "./release-definition.ts";
import type { Release } from "./release-state.ts";
import type { KindName } from "./rendered-kinds.ts";
import { type HelmWatch, parseWatches } from "./watches.ts";

/** Options of {@link helmOperator}. */
export interface HelmOperatorOptions {
  /** Default: the name of the first chart and `-operator`. */
  readonly name?: string;
  /** A chart: a folder or a `.tgz` file. Its kind is named by `group`, `version` and `kind`. */
  readonly chart?: string;
  /** Default: `charts.example.com`. */
  readonly group?: string;
  /** Default: `v1alpha1`. */
  readonly version?: string;
  /** Default: the name of the chart, as `Nginx` of `nginx`. */
  readonly kind?: string;
  /** A `watches.yaml` of Operator SDK, instead of `chart`. Paths in it start at its folder. */
  readonly watches?: string;
  /** Kinds that templates render, but do not name, such as those of values that are templates. */
  readonly kinds?: readonly KindName[];
  /** The CustomResourceDefinitions of kinds that templates render and that the chart does not have, as YAML. */
  readonly crds?: readonly string[];
  /** What one rendering may take. */
  readonly limits?: RenderLimits;
}

/**
 * An operator made of charts: an object of its kind is a release, and its spec the chart's values. Throws if a chart cannot be loaded.
 *
 * ```ts
 * export default helmOperator({ chart: "charts/web", group: "example.com" });
 * ```
 */
export function helmOperator(options: HelmOperatorOptions): Operator {
  const crds = (options.crds ?? []).flatMap(crdsFromYaml) as AnyCrd[];
  const parts = watchesOf(options).map((watch) => {
    const { overrideValues: overrides } = watch;
    const chart = loadChart(readChart(watch.chart), {
      crds,
      ...(options.kinds && { kinds: options.kinds }),
      ...(overrides && { overrides }),
      ...(options.limits && { limits: options.limits }),
    });
    const kind = fromCRD(
      releaseDefinition({ ...watch, kind: watch.kind || kindNameOf(chart.facts.name) }, chart.facts) as AnyCrd,
    );
    return { watch, chart, kind };
  });
  const names = parts.map(({ chart }) => chart.facts.name).join(", ");
  return operator({
    name: options.name ?? `${parts[0]!.chart.facts.name}-operator`,
    description: `Installs and updates releases of ${parts.length === 1 ? "the chart" : "the charts"} ${names}.`,
    kinds: parts.map(({ kind }) => kind as unknown as AnyKind),
    create: () => ({
      controllers: parts.map(({ watch, chart, kind }) =>
        releaseController(kind as KindRef<Release>, {
          chart,
          ...(watch.overrideValues && { overrides: watch.overrideValues }),
          ...(watch.labelSelector !== undefined && { labelSelector: watch.labelSelector }),
          ...(watch.reconcilePeriod !== undefined && { resync: watch.reconcilePeriod }),
        }),
      ),
    }),
  });
}

function watchesOf({ watches, chart, group, version, kind }: HelmOperatorOptions): HelmWatch[] {
  if ((watches === undefined) === (chart === undefined)) {
    throw new TypeError("helmOperator: pass either chart or watches");
  }
  if (chart !== undefined) {
    return [{ group: group ?? "charts.example.com", version: version ?? "v1alpha1", kind: kind ?? "", chart }];
  }
  const found = parseWatches(readFileSync(watches!, "utf8"), process.env);
  if (found.length === 0) throw new Error(`${watches}: it has no entry: add one with group, version, kind and chart`);
  return found.map((one) => ({ ...one, chart: resolve(dirname(watches!), one.chart) }));
}

/** `KubeStateMetrics` of `kube-state-metrics`. */
export function kindNameOf(chart: string): string {
  return chart
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((part) => part[0]!.toUpperCase() + part.slice(1))
    .join("");
}
