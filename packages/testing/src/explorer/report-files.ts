import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { faultText } from "./fault.ts";
import type { Exploration, Finding } from "./finding.ts";
import { findingPage } from "./finding-page.ts";
import { explorationText, findingText } from "./report-text.ts";

/** An exploration as JSON, with its timelines. */
export function explorationJson(exploration: Exploration): string {
  return `${JSON.stringify(exploration, undefined, 2)}\n`;
}

/** An exploration as a JUnit report: each finding is a test that failed; without findings there is one that passed. */
export function explorationJUnit(exploration: Exploration, name: string): string {
  const { findings } = exploration;
  const cases = findings.length === 0 ? [passed(exploration)] : findings.map(failed);
  const suite = `<testsuite name="${escaped(name)}" tests="${cases.length}" failures="${findings.length}">`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<testsuites>",
    suite,
    ...cases,
    "</testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

/** Writes an exploration to a folder: `exploration.json`, `junit.xml`, and each finding as text and as a page. Returns the files' names. */
export function writeExploration(exploration: Exploration, name: string, folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  const files: Record<string, string> = {
    "exploration.json": explorationJson(exploration),
    "junit.xml": explorationJUnit(exploration, name),
  };
  for (const [i, finding] of exploration.findings.entries()) {
    files[`finding-${i + 1}.txt`] = `${findingText(finding)}\n`;
    files[`finding-${i + 1}.html`] = findingPage(finding);
  }
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return Object.keys(files).map((file) => join(folder, file));
}

function passed(exploration: Exploration): string {
  return `<testcase name="${escaped(explorationText(exploration))}"/>`;
}

function failed(finding: Finding): string {
  const { oracle, message, faults } = finding;
  const cause = faults.length === 0 ? "without any fault" : faults.map(faultText).join("; ");
  const failure = `<failure message="${escaped(message)}">${escaped(findingText(finding))}</failure>`;
  return `<testcase classname="${escaped(oracle)}" name="${escaped(cause)}">${failure}</testcase>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Text for XML, in which control characters cannot stand at all. */
function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "").replace(/[&<>"']/g, (one) => ENTITIES[one]!);
}
