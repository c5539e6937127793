import assert from "node:assert/strict";
import { test } from "node:test";
import type { Declaration } from "./declarations.ts";
import { exportsIn } from "./entry-points.ts";
import { firstSentence, linksOf, pageText } from "./pages.ts";

const entry = {
  specifier: "konverge/pods",
  file: "pods.ts",
  ...exportsIn('/**\n * Why pods do not run.\n */\nexport { find, type Find } from "x";', "pods.ts"),
};
const declaration = (name: string, kind: Declaration["kind"], text: string, comment: string): Declaration => ({
  name,
  kind,
  text,
  comment,
  mentions: name === "find" ? ["Find"] : [],
  members: [],
});

test("a page has the comment, the declaration and links to what it mentions", () => {
  const declarations = [
    declaration("Find", "type", "interface Find {\n  at: number;\n}", ""),
    declaration("find", "function", "function find(): Find;", "Finds it, see {@link Find} and {@link other}."),
  ];
  const links = linksOf(new Map([[entry, declarations]]));
  assert.equal(
    pageText(entry, declarations, links),
    `# konverge/pods

Why pods do not run.

## Functions

| name | |
|---|---|
| [find](#find) | Finds it, see [Find](#find-1) and \`other\`. |

### find

Finds it, see [Find](#find-1) and \`other\`.

\`\`\`ts
function find(): Find;
\`\`\`

Related: [Find](#find-1).

## Types

| name | |
|---|---|
| [Find](#find-1) |  |

### Find

\`\`\`ts
interface Find {
  at: number;
}
\`\`\`
`,
  );
});

test("the first sentence of a comment stands in the table", () => {
  assert.equal(firstSentence("Runs e.g. one thing. Then another."), "Runs e.g. one thing.");
  assert.equal(firstSentence("Runs controllers:\n\n```ts\nrun();\n```"), "Runs controllers.");
});
