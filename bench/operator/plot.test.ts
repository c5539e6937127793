import assert from "node:assert/strict";
import { test } from "node:test";
import { plotRatios, plotScale } from "./plot.ts";

const pointsIn = (svg: string) =>
  [...svg.matchAll(/class="point" cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)] as const);

const ratios = new Map([
  [
    "a & b",
    new Map([
      ["time", 2],
      ["writes", Number.POSITIVE_INFINITY],
    ]),
  ],
  ["reference", new Map([["time", 1]])],
  ["c", new Map([["time", 0.5]])],
]);
const svg = plotRatios(ratios, "reference", ["time", "writes", "not measured"], "Ratios <1 are better");

test("a plot of ratios has a point for each, placed on a logarithmic axis around the reference", () => {
  const [, one] = /<line x1="([\d.]+)"[^>]*style="stroke:#1f2328"/.exec(svg)!;
  const points = pointsIn(svg).map(([x]) => x - Number(one));
  assert.equal(points.length, 2);
  assert.ok(Math.abs(points[0]! + points[1]!) < 0.2, String(points));
});

test("what no logarithmic axis can show is left out, with its row", () => {
  assert.ok(svg.includes(">time</text>"));
  assert.ok(!svg.includes(">writes</text>"));
  assert.ok(!svg.includes(">not measured</text>"));
});

test("names are escaped, and the reference is a line and no point", () => {
  assert.ok(svg.includes("Ratios &lt;1 are better"));
  assert.ok(svg.includes(">a &amp; b</text>"));
  assert.ok(!svg.includes(">reference</text>"));
});

test("a plot of growth has a panel for each unit, and what grows in proportion is a straight line", () => {
  const medians = new Map([
    [
      "konverge",
      new Map([
        ["100: s", 1],
        ["1000: s", 10],
        ["10000: s", 100],
        ["100: MiB", 50],
      ]),
    ],
  ]);
  const drawn = plotScale(medians, [100, 1000, 10000], ["s", "MiB"], (count, unit) => `${count}: ${unit}`, "Growth");
  assert.ok(drawn.includes(">s</text>") && drawn.includes(">MiB</text>") && drawn.includes(">10k</text>"));
  const points = pointsIn(drawn);
  assert.equal(points.length, 4);
  const [a, b, c] = points as [readonly [number, number], readonly [number, number], readonly [number, number]];
  assert.ok(Math.abs(b[0] - a[0] - (c[0] - b[0])) < 0.2 && Math.abs(b[1] - a[1] - (c[1] - b[1])) < 0.2, String(points));
});
