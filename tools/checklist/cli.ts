// `npm run checklist`: what the documents promise, line by line, on the embedded cluster and on a real control plane.
import { parseArgs } from "node:util";
import { realStages } from "@konverge/operator-suite";
import { findControlPlane } from "@konverge/real";
import { documents } from "./documents.ts";
import type { ChecklistDocument, Story } from "./form.ts";
import { type LineResult, type Places, POD_SECURITY, playStory } from "./run.ts";

const { values: options } = parseArgs({
  options: {
    /** Only the embedded cluster. */
    embedded: { type: "boolean", default: false },
    /** Only the real control plane. */
    real: { type: "boolean", default: false },
    /** `D0`, `D0:L96`, or part of a story's title; several with commas. */
    only: { type: "string", default: "" },
    help: { type: "boolean", default: false },
  },
});
if (options.help) {
  console.log("npm run checklist -- [--embedded | --real] [--only D0,D1:L393,…]");
  process.exit(0);
}

const wanted = options.only.split(",").filter((part) => part !== "");
const isWanted = ({ id }: ChecklistDocument, { title, lines }: Story) =>
  wanted.length === 0 ||
  wanted.some(
    (part) => part === id || title.includes(part) || Object.keys(lines).some((line) => part === `${id}:${line}`),
  );

const chosen = (await documents()).flatMap((document) =>
  document.stories.filter((story) => isWanted(document, story)).map((story) => ({ document, story })),
);
if (chosen.length === 0) {
  console.error(`no line is called ${options.only}`);
  process.exit(2);
}

const plane = findControlPlane();
const needsReal = chosen.some(({ story }) => story.where !== "embedded") && (options.real || !options.embedded);
const real = needsReal
  ? plane.available
    ? await realStages({ podSecurity: POD_SECURITY })
    : { why: plane.why }
  : undefined;
const places: Places = { embedded: options.embedded || !options.real, real };
const results: LineResult[] = [];
try {
  for (const { document, story } of chosen) {
    for await (const result of playStory(document, story, places)) {
      results.push(result);
      print(result);
    }
  }
} finally {
  if (real && !("why" in real)) await real[Symbol.asyncDispose]();
}

const count = (result: LineResult["result"]) => results.filter((one) => one.result === result).length;
const skips = count("skipped");
console.log(`\n${count("passed")} passed, ${count("failed")} failed${skips > 0 ? `, ${skips} skipped` : ""}`);
process.exit(count("failed") > 0 ? 1 : 0);

function print({ document, line, title, where, result, detail }: LineResult): void {
  const mark = { passed: "ok  ", failed: "FAIL", skipped: "skip" }[result];
  console.log(`${`${document} ${line}`.padEnd(14)} ${where.padEnd(8)} ${mark} ${title}`);
  if (result !== "passed") console.log(detail.replace(/^/gm, "               | "));
}
