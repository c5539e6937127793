import type { Attempt } from "./attempt.ts";
import type { Upstream } from "./upstreams.ts";

/** What was measured of one project. */
export interface Measured {
  readonly upstream: Upstream;
  readonly source: string;
  readonly attempts: readonly Attempt[];
  readonly templates: readonly string[];
}

const percent = (part: number, whole: number) => (whole === 0 ? "–" : `${Math.round((100 * part) / whole)} %`);

/** `ray v1.6.2: 60 of 70 manifests accepted (86 %), 55 converged (79 %)`. */
export function summaryOf({ upstream, attempts }: Measured): string {
  const { accepted, converged, all } = countsOf(attempts);
  const [a, c] = [percent(accepted, all), percent(converged, all)];
  return `${upstream.name} ${upstream.tag}: ${accepted} of ${all} manifests accepted (${a}), ${converged} converged (${c})`;
}

/** Reasons with the number of manifests that have them, the most frequent first. */
export function reasonsOf(attempts: readonly Attempt[], result: Attempt["result"]): [reason: string, count: number][] {
  const counts = new Map<string, number>();
  for (const attempt of attempts.filter((one) => one.result === result))
    for (const reason of new Set(attempt.reasons.map(general))) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b));
}

/** The reference page, without its introduction. */
export function pageOf(measured: readonly Measured[]): string {
  const rows = measured.map(({ upstream, source, attempts, templates }) => {
    const { accepted, converged, all } = countsOf(attempts);
    const cells = [upstream.name, upstream.tag, source, all, `${accepted} (${percent(accepted, all)})`];
    return `| ${[...cells, `${converged} (${percent(converged, all)})`, templates.length].join(" | ")} |`;
  });
  const details = measured.flatMap(({ upstream, attempts }) =>
    (["refused", "accepted"] as const).flatMap((result) => {
      const reasons = reasonsOf(attempts, result);
      if (reasons.length === 0) return [];
      const title = result === "refused" ? "refused because" : "accepted, but not converged because";
      return [`**${upstream.name}**, ${title}:`, "", ...reasons.map(([reason, count]) => `- ${count} × ${reason}`), ""];
    }),
  );
  return [
    "| project | tag | from | manifests | accepted | converged | templates, not counted |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
    ...details,
  ].join("\n");
}

function countsOf(attempts: readonly Attempt[]) {
  const converged = attempts.filter(({ result }) => result === "converged").length;
  const accepted = attempts.filter(({ result }) => result !== "refused").length;
  return { accepted, converged, all: attempts.length };
}

/** Without the names of a manifest's own objects, so that manifests with the same cause are counted together. */
function general(reason: string): string {
  return reason
    .replace(/^(\S+) "[^"]*" is invalid: /, "$1 is invalid: ")
    .replace(/(\.|\[)"?[\w-]+"?\]?(?=\.(template|spec|extraPodSpec|resources))/g, (text) =>
      text.startsWith("[") ? "[…]" : text,
    )
    .replace(/\[\d+\]/g, "[]")
    .replace(/\bstage\/[\w.-]+/g, "…")
    .replace(/\s+/g, " ")
    .slice(0, 300);
}
