import { REHEARSAL_FINDINGS, type Rehearsal, type RehearsalFinding, type RehearsalLoad } from "./rehearsal.ts";

/** How many objects of a finding are named; the others are counted. */
const NAMED = 3;

/** A rehearsal as lines for a terminal: the findings, the load, and a summary. */
export function rehearsalText({ name, objects, findings, load, crashes, notes }: Rehearsal): string {
  const found = findings.length === 0 ? "nothing changes" : count(findings.length, "finding");
  return [
    ...findings.map(findingLine),
    ...notes.map((note) => `note: ${note}`),
    ...(crashes > 0 ? [`${count(crashes, "crash")} of the new version tried`] : []),
    loadText(load),
    `${name}, rehearsed on ${count(objects, "object")}: ${found}`,
    "",
  ].join("\n");
}

function findingLine(finding: RehearsalFinding): string {
  const { type, message } = finding;
  const what = subject(finding);
  return `${type}: ${what === "" ? "" : `${what}: `}${message}`;
}

/** `statefulsets.apps default/a, default/b and 3 more`. */
export function subject({ resource, objects }: Pick<RehearsalFinding, "resource" | "objects">, named = NAMED): string {
  const more = objects.length - named;
  const names = objects.slice(0, named).join(", ");
  return [resource, names, more > 0 ? `and ${more} more` : ""].filter((part) => part !== "").join(" ");
}

/** The requests of both versions. */
export function loadText({ new: now, old }: Rehearsal["load"]): string {
  const idle = ({ idleRequests, idleMinutes }: RehearsalLoad) =>
    `${idleRequests} of them in ${idleMinutes} minutes without work`;
  const before = old ? `, ${old.requests} by the old one (${idle(old)})` : "";
  return `requests: ${now.requests} by the new version (${idle(now)})${before}`;
}

function count(number: number, what: string): string {
  const plural = what.endsWith("sh") ? `${what}es` : `${what}s`;
  return `${number} ${number === 1 ? what : plural}`;
}

/** A rehearsal as a JUnit report: each type of findings is a test, which fails if there are any. */
export function rehearsalJUnit({ name, findings }: Rehearsal): string {
  const types = Object.entries(REHEARSAL_FINDINGS);
  const failed = types.filter(([type]) => findings.some((one) => one.type === type)).length;
  const cases = types.map(([type, meaning]) => {
    const own = findings.filter((one) => one.type === type);
    const start = `<testcase classname="rehearse" name="${escaped(`${type}: ${meaning}`)}"`;
    if (own.length === 0) return `${start}/>`;
    const lines = own.map((one) => `${subject(one, Number.POSITIVE_INFINITY)}: ${one.message}`);
    return `${start}><failure message="${escaped(findingLine(own[0]!))}">${escaped(lines.join("\n"))}</failure></testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<testsuites>",
    `<testsuite name="${escaped(name)}" tests="${types.length}" failures="${failed}">`,
    ...cases,
    "</testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

/** A rehearsal as an HTML page that needs nothing else. */
export function rehearsalPage(rehearsal: Rehearsal): string {
  const { name, objects, findings, load, notes, crashes } = rehearsal;
  const types = Object.keys(REHEARSAL_FINDINGS).filter((type) => findings.some((one) => one.type === type));
  const title = escaped(`${name}: ${findings.length === 0 ? "nothing changes" : count(findings.length, "finding")}`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${STYLE}</style>
<h1>${title}</h1>
<p>Rehearsed on ${count(objects, "object")}${crashes > 0 ? `, with ${count(crashes, "crash")}` : ""}. ${escaped(loadText(load))}.</p>
${notes.map((note) => `<p>${escaped(note)}</p>`).join("\n")}
${types.map((type) => section(type as keyof typeof REHEARSAL_FINDINGS, findings)).join("\n")}
</html>
`;
}

function section(type: keyof typeof REHEARSAL_FINDINGS, findings: readonly RehearsalFinding[]): string {
  const rows = findings
    .filter((one) => one.type === type)
    .map(({ resource, objects, message }) => {
      const names = `<details><summary>${count(objects.length, "object")}</summary>${objects.map(escaped).join("<br>")}</details>`;
      return `<tr><td>${escaped(message)}</td><td>${escaped(resource)}</td><td>${objects.length > 0 ? names : ""}</td></tr>`;
    });
  return `<h2>${type}</h2>
<p>${escaped(REHEARSAL_FINDINGS[type])}</p>
<table>
<thead><tr><th>What</th><th>Kind</th><th>Objects</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>`;
}

const STYLE = `
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
td, th { padding: 2px 8px; text-align: left; vertical-align: top; border-bottom: 1px solid #8883; }
:root { color-scheme: light dark; }
`;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text for XML and HTML, in which control characters cannot stand at all. */
function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "").replace(/[&<>"']/g, (one) => ENTITIES[one]!);
}
