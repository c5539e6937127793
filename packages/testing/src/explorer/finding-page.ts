import { faultText } from "./fault.ts";
import type { Finding } from "./finding.ts";
import { oracleMeaning } from "./oracle-meaning.ts";
import type { TimelineEntry } from "./timeline.ts";

const STYLE = `
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
td, th { padding: 2px 8px; text-align: left; vertical-align: top; border-bottom: 1px solid #8883; }
td.number { text-align: right; font-variant-numeric: tabular-nums; color: #888; white-space: nowrap; }
tr.user { background: #4a90d91f; }
tr.fault { background: #d94a4a33; font-weight: 600; }
tr.process { color: #888; font-style: italic; }
.stale { color: #c60; font-weight: 600; }
code { font-size: 13px; }
:root { color-scheme: light dark; }
`;

/** A finding as an HTML page that needs nothing else: what is wrong, with which faults, and the timeline of the run. */
export function findingPage(finding: Finding): string {
  const { oracle, message, faults, seed, timeline, runs } = finding;
  const meaning = oracleMeaning(oracle) ?? "";
  const cause =
    faults.length === 0 ? "<li>none</li>" : faults.map((one) => `<li>${escaped(faultText(one))}</li>`).join("");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(`${oracle}: ${message}`)}</title>
<style>${STYLE}</style>
<h1>${escaped(oracle)}</h1>
<p><strong>${escaped(message)}</strong></p>
<p>${escaped(meaning)}</p>
<h2>Faults</h2>
<ul>${cause}</ul>
<p>Seed ${seed}. Reported in ${runs} ${runs === 1 ? "run" : "runs"}.</p>
<h2>Timeline</h2>
<table>
<thead><tr><th>Time</th><th>Version</th><th>Who</th><th>What</th><th>Result</th></tr></thead>
<tbody>
${timeline.map(row).join("\n")}
</tbody>
</table>
</html>
`;
}

function row({ at, revision, who, type, what, process, result, version, live }: TimelineEntry): string {
  const kind = type === "fault" || type === "process" ? type : who;
  const actor = process === undefined ? who : `${who} #${process}`;
  const shown = version === undefined ? "" : ` version ${escaped(version)}`;
  const stale =
    live === undefined
      ? ""
      : ` <span class="stale">stale: ${live === "deleted" ? "it is deleted" : `it is at ${escaped(live)}`}</span>`;
  const cells = [
    `<td class="number">${(at / 1000).toFixed(3)} s</td>`,
    `<td class="number">${revision}</td>`,
    `<td>${actor}</td>`,
    `<td><code>${escaped(type === "event" ? `receives ${what}` : what)}</code></td>`,
    `<td>${escaped(result ?? "")}${shown}${stale}</td>`,
  ];
  return `<tr class="${kind}">${cells.join("")}</tr>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
