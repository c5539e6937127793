import type { Figures } from "./figures.ts";
import { fitsAxis, logarithmicAxis } from "./logarithmic-axis.ts";
import { colorOf, escapeXml, picture, point } from "./svg.ts";

const WIDTH = 760;
const TOP = 64;

/** Ratios as points on a logarithmic axis, one row for each thing measured; the reference is the line at 1. */
export function plotRatios(ratios: Figures, reference: string, whats: readonly string[], title: string): string {
  const [left, right, row] = [170, WIDTH - 24, 26];
  const names = [...ratios.keys()].filter((name) => name !== reference);
  const rows = whats.filter((what) => names.some((name) => fitsAxis(ratios.get(name)?.get(what))));
  const values = rows.flatMap((what) => names.map((name) => ratios.get(name)?.get(what)).filter(fitsAxis));
  const { ticks, position } = logarithmicAxis([1, ...values], left, right);
  const bottom = TOP + row * rows.length;
  const content = [
    ...ticks.map((tick) => {
      const x = position(tick);
      const style = tick === 1 ? ' style="stroke:#1f2328"' : "";
      return `<line x1="${x}" x2="${x}" y1="${TOP}" y2="${bottom}"${style}/><text class="middle" x="${x}" y="${bottom + 18}">${tick}</text>`;
    }),
    ...rows.flatMap((what, i) => {
      const y = TOP + row * (i + 0.5);
      const points = names.flatMap((name, k) => {
        const value = ratios.get(name)?.get(what);
        return fitsAxis(value) ? point(position(value), y, colorOf(k), `${name}, ${what}: ${value.toFixed(2)}`) : [];
      });
      return [`<text class="end" x="${left - 12}" y="${y + 4}">${escapeXml(what)}</text>`, ...points];
    }),
  ];
  return picture(title, names, { width: WIDTH, height: bottom + 30 }, content);
}

/** How figures grow with the number of objects: a panel for each unit, both axes logarithmic. `what` names a figure. */
export function plotScale(
  medians: Figures,
  counts: readonly number[],
  units: readonly string[],
  what: (count: number, unit: string) => string,
  title: string,
): string {
  const names = [...medians.keys()];
  const [panel, top, bottom] = [WIDTH / units.length, TOP + 24, 300];
  const content = units.flatMap((unit, i) => {
    const [left, right] = [panel * i + 52, panel * (i + 1) - 20];
    const values = names.map((name) => counts.map((count) => medians.get(name)?.get(what(count, unit))));
    const x = logarithmicAxis(counts, left, right);
    const y = logarithmicAxis(values.flat().filter(fitsAxis), bottom, top);
    return [
      `<text class="strong" x="${left}" y="${TOP + 12}">${escapeXml(unit)}</text>`,
      ...counts.map(
        (count) => `<text class="middle" x="${x.position(count)}" y="${bottom + 18}">${short(count)}</text>`,
      ),
      ...y.ticks.map((tick) => {
        const at = y.position(tick);
        return `<line x1="${left}" x2="${right}" y1="${at}" y2="${at}"/><text class="end" x="${left - 6}" y="${at + 4}">${short(tick)}</text>`;
      }),
      ...names.flatMap((name, k) => {
        const places = counts.flatMap((count, n) => {
          const value = values[k]![n];
          return fitsAxis(value) ? [{ at: [x.position(count), y.position(value)] as const, count, value }] : [];
        });
        const line = places.map(({ at }) => at.join(",")).join(" ");
        return [
          `<polyline points="${line}" stroke="${colorOf(k)}"/>`,
          ...places.map(({ at, count, value }) =>
            point(...at, colorOf(k), `${name}, ${count} objects: ${value.toFixed(2)} ${unit}`),
          ),
        ];
      }),
    ];
  });
  return picture(title, names, { width: WIDTH, height: bottom + 30 }, content);
}

/** 20k for 20000. */
function short(value: number): string {
  return value >= 1000 ? `${value / 1000}k` : String(value);
}
