import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { test } from "node:test";
import { themeNavigation } from "./sidebar.ts";
import { type StagedSite, stageSite } from "./stage.ts";

const LANDING = "---\nhero:\n  link: docs/guide/a.md\n---\n\n<!-- README.md#short -->\n";

function staged(files: Record<string, string>): StagedSite {
  const root = mkdtempSync(join(tmpdir(), "konverge-site-"));
  try {
    for (const [file, text] of Object.entries({ "README.md": "# R\n\n## Short\n\n[a](docs/guide/a.md)\n", ...files })) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
    return stageSite(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

test("the documentation of this repository has no dead link or anchor, and all of it is in the navigation", () => {
  const { problems, sections } = stageSite(resolve(import.meta.dirname, "../.."));
  assert.deepEqual([...problems, ...themeNavigation(sections).problems], []);
});

test("links lead to pages, and to sources that become pages", () => {
  const { pages, pictures, problems } = staged({
    "docs/README.md": "## Guide\n\n- [A](guide/a.md)\n- [B](guide/b.md)\n",
    "docs/site/index.md": LANDING,
    "docs/guide/a.md":
      "[b](b.md#b) [file](../../lib/x.ts) [folder](../../lib) ![p](../p.svg) ![q](../q.webp) [k](https://kubernetes.io)\n",
    "docs/guide/b.md": "# B\n",
    "docs/p.svg": "<svg/>",
    "docs/q.webp": "webp",
    "lib/x.ts": "export {};\n",
  });
  assert.deepEqual(problems, []);
  assert.equal(
    pages.get("guide/a.md"),
    "[b](/guide/b.md#b) [file](/source/lib/x.ts.md) [folder](/source/lib/) ![p](/docs/p.svg) ![q](/docs/q.webp) [k](https://kubernetes.io)\n",
  );
  assert.match(pages.get("source/lib/x.ts.md")!, /^```ts:line-numbers\nexport \{\};\n```$/m);
  assert.match(pages.get("source/lib/index.md")!, /- \[x\.ts\]\(\/source\/lib\/x\.ts\.md\)/);
  assert.deepEqual([...pictures], ["docs/p.svg", "docs/q.webp"]);
  assert.equal(pages.get("index.md"), "---\nhero:\n  link: /guide/a.md\n---\n\n[a](/guide/a.md)\n");
});

test("the navigation has sections, groups and pages in the order of docs/README.md and of the folders' README.md", () => {
  const { sections } = staged({
    "docs/README.md":
      "# D\n\n## Guide\n\n- [A](guide/a.md)\n\n### More\n\n- [All](reference)\n\n## Examples\n\n- [Overview](../examples)\n",
    "docs/site/index.md": LANDING,
    "docs/guide/a.md": "# A\n",
    "docs/reference/README.md": "# Reference\n\n[Kinds](kinds.md), then [client](client.md)\n",
    "docs/reference/client.md": "# Client\n",
    "docs/reference/kinds.md": "# Kinds\n",
    "examples/01-rbac/rbac.ts": "// What an example\n// shows.\nimport {} from 'konverge';\n",
  });
  const { theme, problems } = themeNavigation(sections);
  assert.deepEqual(problems, []);
  assert.deepEqual(theme.nav, [
    { text: "Guide", link: "/guide/a.md", activeMatch: "^(?:/guide/|/reference/)" },
    { text: "Examples", link: "/examples/", activeMatch: "^(?:/examples/)" },
  ]);
  assert.deepEqual(
    theme.sidebar["/reference/"]?.map(({ text, items }) => [text, items.map((item) => `${item.text} ${item.link}`)]),
    [
      [undefined, ["A /guide/a.md"]],
      ["More", ["All /reference/", "Kinds /reference/kinds.md", "Client /reference/client.md"]],
    ],
  );
  assert.deepEqual(theme.sidebar["/examples/"]?.[0]?.items, [
    { text: "Overview", link: "/examples/" },
    { text: "01 RBAC", link: "/examples/01-rbac.md" },
  ]);
});

test("an example's page has the comment at the top of its main file, and its files", () => {
  const { pages } = staged({
    "docs/README.md": "## Guide\n\n- [A](guide/a.md)\n\n## Examples\n\n- [Overview](../examples)\n",
    "docs/site/index.md": LANDING,
    "docs/guide/a.md": "# A\n",
    "examples/01-rbac/rbac.ts": "// What an example\n// shows.\nimport {} from 'konverge';\n",
    "examples/01-rbac/rbac.test.ts": "test();\n",
  });
  assert.equal(
    pages.get("examples/01-rbac.md"),
    "# 01 RBAC\n\nWhat an example shows.\n\n## rbac.ts\n\n```ts\nimport {} from 'konverge';\n```\n\n## rbac.test.ts\n\n```ts\ntest();\n```\n",
  );
  assert.match(pages.get("examples/index.md")!, /- \[01 RBAC\]\(\/examples\/01-rbac\.md\): What an example shows\./);
});

test("what leads nowhere, or is in no list, is reported with its place", () => {
  const { problems } = staged({
    "docs/README.md": "## Guide\n\n- [A](guide/a.md)\n- [A](guide/a.md)\n- [Gone](guide/gone.md)\n- no link\n",
    "docs/site/index.md": LANDING.replace("#short", "#long"),
    "docs/guide/a.md": "# A\n\n[b](b.md) [c](c.md) [d](../../../d.md) [e](#e) [f](#a) [g](../../README.md#g)\n",
    "docs/guide/b.md": "# B\n",
  });
  assert.deepEqual(problems, [
    "docs/README.md:4: docs/guide/a.md is listed twice",
    "docs/README.md:5: docs/guide/gone.md has no page: name a Markdown file, or a folder with some",
    'docs/README.md:6: is not "- [Title](file.md)" below a heading of level two',
    "docs/site/index.md: README.md has no section #long",
    "docs/guide/a.md:3: links to docs/guide/b.md, which is not in docs/README.md: add it there",
    "docs/guide/a.md:3: c.md does not exist",
    "docs/guide/a.md:3: ../../../d.md does not exist",
    "docs/guide/a.md:3: #e: no heading has this anchor",
    "docs/guide/a.md:3: ../../README.md#g: no heading has this anchor",
    "docs/guide/a.md:3: links to README.md, which is not in docs/README.md: add it there",
    "docs/guide/b.md: is not in docs/README.md: add it there",
  ]);
});
