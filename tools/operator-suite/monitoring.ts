import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Operator } from "@konverge/runtime";
import { parseYaml } from "@konverge/schema";
import { onEmbedded } from "./declare.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Where the runbooks are that alerts refer to. */
const PUBLISHED = "https://github.com/konverge/konverge/blob/main/";
/** Strings, and the parts of expressions that name labels and times: selectors, ranges, groupings. */
const NOT_SERIES = /"[^"]*"|\{[^}]*\}|\[[^\]]*\]|\b(by|without|on|ignoring|group_left|group_right) *\([^)]*\)/g;

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Declares tests of the alerts and the dashboard in the folder `monitoring`: they use only series that the operator exports, or
 * that `workload` lists: those that the programs in its pods export according to their documentation. Each alert has a runbook.
 */
export function monitoringIsTrue(operator: Operator, folder: URL, workload: readonly string[] = []): void {
  const read = (file: string) => readFileSync(new URL(file, folder), "utf8");
  const [rules] = parseYaml(read("alerts.yaml")) as [{ spec: { groups: { rules: Alert[] }[] } }];
  const alerts = rules.spec.groups.flatMap((group) => group.rules);

  onEmbedded("alerts and dashboard use only metrics that are exported", async (stage) => {
    const running = await stage.start(operator);
    const exported = await running.metrics();
    const { panels } = JSON.parse(read("dashboard.json")) as { panels: { targets?: { expr: string }[] }[] };
    const shown = panels.flatMap(({ targets = [] }) => targets);
    for (const { expr } of [...alerts, ...shown]) {
      const names = seriesIn(expr);
      assert.ok(names.length > 0, `no series in ${expr}`);
      assert.ok(canMatch(expr), `its series have different labels, so nothing matches: ${expr}`);
      for (const name of names) {
        const series = name.replace(/_(bucket|sum|count)$/, "");
        assert.ok(exported.includes(`# TYPE ${series} `) || workload.includes(series), `${name} is not exported`);
      }
    }
  });

  test("each alert has a severity, a description and a runbook", () => {
    for (const { alert, labels, annotations } of alerts) {
      assert.match(labels?.["severity"] ?? "", /^(critical|warning|info)$/, `severity of ${alert}`);
      for (const name of ["summary", "description"]) assert.ok(annotations?.[name], `${name} of ${alert}`);
      const url = annotations?.["runbook_url"] ?? "";
      assert.ok(isSection(url), `runbook of ${alert}: ${url || "none"}`);
    }
  });
}

/** The names of series in an expression: what is neither a function, a label nor a keyword. */
function seriesIn(expression: string): string[] {
  const bare = expression.replaceAll(NOT_SERIES, " ");
  return [...bare.matchAll(/\b[a-zA-Z_:][\w:]*\b(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => name.includes("_"));
}

/** Whether operands can match: Prometheus compares all labels unless `on` or `ignoring` restricts them. */
function canMatch(expression: string): boolean {
  if (/\b(on|ignoring) *\(/.test(expression)) return true;
  const values = Map.groupBy(expression.matchAll(/\b(\w+)="([^"]*)"/g), ([, label]) => label);
  return [...values.values()].every((same) => new Set(same.map(([, , value]) => value)).size === 1);
}

/** Whether the address is that of a section of a page of this repository. */
function isSection(url: string): boolean {
  const [path = "", anchor = ""] = url.replace(PUBLISHED, "").split("#");
  if (!url.startsWith(PUBLISHED) || !existsSync(join(ROOT, path))) return false;
  const titles = readFileSync(join(ROOT, path), "utf8").matchAll(/^#+ (.*)$/gm);
  return [...titles].some(([, title]) => title!.toLowerCase().replaceAll(" ", "-") === anchor);
}
