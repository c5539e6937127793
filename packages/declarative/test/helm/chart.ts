import { existsSync } from "node:fs";
import { builtEngine, type ChartSource, HelmEngine, type RenderRequest } from "@konverge/declarative/helm-engine";

/** Why tests that render are skipped; false if they are not. */
export const skip: string | false = existsSync(builtEngine())
  ? false
  : 'Helm\'s engine is not built: run "npm run helm:build"';

/** A chart of these files, and a Chart.yaml unless there is one. */
export function chart(files: Readonly<Record<string, string>>): ChartSource {
  const all = { "Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: 9.9.9\n", ...files };
  return { files: Object.entries(all).map(([name, text]) => ({ name, data: new TextEncoder().encode(text) })) };
}

/** A request to render a chart as the release `shop` in the namespace `default`. */
export function request(source: ChartSource, more: Partial<RenderRequest> = {}): RenderRequest {
  const release = { name: "shop", namespace: "default", revision: 1, upgrade: false };
  return { chart: source, release, now: Date.UTC(2026, 0, 1), seed: "one", ...more };
}

/** One engine for all tests of a file: it takes a while to start. */
export const engine = new HelmEngine({ timeMs: 4_000 });
