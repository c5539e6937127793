import assert from "node:assert/strict";
import { test } from "node:test";
import { ratiosOf } from "./figures.ts";
import { parseRatios, type Report, reportText } from "./report.ts";

const report: Report = {
  medians: new Map([
    [
      "konverge",
      new Map([
        ["cold: s", 9.5],
        ["cold: peak MiB", 137.4],
        ["restart: writes", 3],
      ]),
    ],
    [
      "controller-runtime",
      new Map([
        ["cold: s", 10],
        ["cold: peak MiB", 45],
        ["restart: writes", 0],
      ]),
    ],
    ["limit", new Map([["cold: s", 5]])],
  ]),
  rounds: 5,
  versions: new Map([
    ["konverge", "Konverge, Node 24"],
    ["controller-runtime", "controller-runtime 0.25.2"],
    ["limit", "client-go 0.37.0"],
  ]),
  requests: [["cold", "konverge", "2 apply configmaps"]],
  missing: new Map([["kube-rs", "kube-rs cannot be built without cargo: install Rust"]]),
};

test("a report has the ratios, the medians, the requests and the reason why an operator is missing", () => {
  const text = reportText(report, "The workload.");
  for (const line of [
    "The workload.",
    "- kube-rs: kube-rs cannot be built without cargo: install Rust",
    "|  | konverge | limit |",
    "| cold: s | 0.95 | 0.50 |",
    "| restart: writes | ∞ |  |",
    "|  | konverge | controller-runtime | limit | ratio |",
    "| cold: peak MiB | 137 | 45 |  | 3.05 |",
    "| cold | konverge | 2 apply configmaps |",
  ])
    assert.ok(text.split("\n").includes(line), `${line} in\n${text}`);
  assert.match(text, /Medians of 5 rounds.*limit: client-go 0\.37\.0/);
});

test("the ratios of a report can be read from its text", () => {
  const parsed = parseRatios(reportText(report, "The workload."));
  const ratios = ratiosOf(report.medians);
  assert.deepEqual([...parsed.keys()], ["konverge", "limit"]);
  for (const [name, values] of parsed)
    for (const [what, value] of values) {
      const exact = ratios.get(name)!.get(what)!;
      assert.ok(value === exact || Math.abs(value - exact) <= 0.005, `${name} ${what}: ${value} for ${exact}`);
    }
  assert.equal(parsed.get("konverge")!.get("restart: writes"), Number.POSITIVE_INFINITY);
  assert.equal(parsed.get("limit")!.has("restart: writes"), false);
});

test("a text without ratios is no report to compare with", () => {
  assert.throws(
    () => parseRatios("# Another result\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"),
    /run npm run bench first/,
  );
});

test("a run without the reference reports medians and no ratios", () => {
  const text = reportText({ ...report, medians: new Map([["konverge", new Map([["cold: s", 9.5]])]]) }, "");
  assert.ok(!text.includes("## Ratios"));
  assert.ok(text.includes("| cold: s | 9.50 |  |"), text);
});
