import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Operator } from "@konverge/runtime";
import { onEmbedded } from "./declare.ts";

/** Parts of expressions that name labels and times: selectors, ranges, groupings. */
const LABELS = /\{[^}]*\}|\[[^\]]*\]|\b(by|without|on|ignoring|group_left|group_right) *\([^)]*\)/g;
/** Words of expressions that are no series. */
const FUNCTIONS = new Set(["histogram_quantile", "avg_over_time", "max_over_time", "label_replace"]);

/** Declares a test that alerts and dashboard, in the folder `monitoring`, speak only of series that the operator exports. */
export function monitoringIsTrue(operator: Operator, folder: URL): void {
  onEmbedded("alerts and dashboard speak only of metrics that there are", async (stage) => {
    const running = await stage.start(operator);
    const exported = await running.metrics();
    const text = ["alerts.yaml", "dashboard.json"]
      .map((file) => readFileSync(new URL(file, folder), "utf8"))
      .join("\n");
    const expressions = [...text.matchAll(/expr"?: "?(.*?)"?,?$/gm)].map(([, expression]) => expression!);
    const names = expressions
      .flatMap((expression) => expression.replaceAll(LABELS, " ").match(/\b[a-z]+(_[a-z]+)+\b/g) ?? [])
      .filter((name) => !FUNCTIONS.has(name));
    assert.ok(names.length > 0, "there are no expressions");
    for (const name of new Set(names)) {
      const series = name.replace(/_(bucket|sum|count)$/, "");
      assert.ok(exported.includes(`# TYPE ${series} `), `${name} is not exported`);
    }
  });
}
