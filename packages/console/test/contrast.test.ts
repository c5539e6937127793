import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const css = readFileSync(new URL("../page/styles/theme.css", import.meta.url), "utf8");
/** What WCAG 2 requires of text, level AA. */
const REQUIRED = 4.5;

type Color = readonly [number, number, number];

function colorsOf(theme: "light" | "dark"): Map<string, Color> {
  const [, block = ""] = new RegExp(`:root\\[data-theme="${theme}"\\] \\{([^}]*)\\}`).exec(css) ?? [];
  const found = [...block.matchAll(/--([\w-]+): #(\w\w)(\w\w)(\w\w);/g)];
  const part = (hex: string) => Number.parseInt(hex, 16);
  return new Map(found.map(([, name, r, g, b]) => [name!, [part(r!), part(g!), part(b!)]]));
}

function luminance(color: Color): number {
  const [r, g, b] = color.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as unknown as Color;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: Color, b: Color): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** As `color-mix(in srgb, front share, transparent)` on a background. */
function mixed(front: Color, back: Color, share: number): Color {
  return front.map((value, i) => value * share + back[i]! * (1 - share)) as unknown as Color;
}

for (const theme of ["light", "dark"] as const) {
  test(`in the ${theme} theme, text has enough contrast on every background that it is on`, () => {
    const colors = colorsOf(theme);
    const color = (name: string) => colors.get(name)!;
    const tones = ["accent", "ready", "progressing", "failed", "muted"];
    const pairs: [string, Color, Color][] = [
      ...["text", "done", "terminating", ...tones].flatMap((front) =>
        ["page", "panel", "raised"].map((back): [string, Color, Color] => [
          `${front} on ${back}`,
          color(front),
          color(back),
        ]),
      ),
      // Tags of the timeline.
      ...tones.flatMap((tone) =>
        ["panel", "raised"].map((back): [string, Color, Color] => [
          `${tone} on its tag on ${back}`,
          color(tone),
          mixed(color(tone), color(back), 0.13),
        ]),
      ),
      ...["added", "removed", "accent-soft", "progressing-soft", "failed-soft"].map((back): [string, Color, Color] => [
        `text on ${back}`,
        color("text"),
        color(back),
      ]),
      ["failed on failed-soft", color("failed"), color("failed-soft")],
      ["panel on accent", color("panel"), color("accent")],
    ];
    const weak = pairs.filter(([, front, back]) => contrast(front, back) < REQUIRED);
    assert.deepEqual(
      weak.map(([name, front, back]) => `${name}: ${contrast(front, back).toFixed(2)}`),
      [],
    );
  });
}
