import assert from "node:assert/strict";
import { test } from "node:test";
import { anchorsOf, fenced, replaceLinks, sectionOf, showFileNames, titleOf } from "./markdown.ts";

const upper = (markdown: string) => replaceLinks(markdown, (target) => target.toUpperCase());

test("links, pictures and reference definitions get their new targets", () => {
  assert.equal(upper("[a](x.md) and [b](y.md#z) ![c](d.svg)"), "[a](X.MD) and [b](Y.MD#Z) ![c](D.SVG)");
  assert.equal(upper('[a](x.md "a title")'), '[a](X.MD "a title")');
  assert.equal(upper("[![a](b.svg)](c.md)"), "[![a](B.SVG)](C.MD)");
  assert.equal(upper("[a]: x.md"), "[a]: X.MD");
});

test("pictures in HTML get their new addresses, those for dark themes too", () => {
  assert.equal(
    upper('<picture><source media="(x: y)" srcset="b.svg"><img alt="c" src="d.svg" width="9"></picture>'),
    '<picture><source media="(x: y)" srcset="B.SVG"><img alt="c" src="D.SVG" width="9"></picture>',
  );
});

test("a link whose text is code is replaced, a link in code is not", () => {
  assert.equal(upper("[`konverge up`](x.md), `[a](x.md)`"), "[`konverge up`](X.MD), `[a](x.md)`");
  assert.equal(upper("``a ` [a](x.md)`` [b](y.md)"), "``a ` [a](x.md)`` [b](Y.MD)");
  assert.equal(upper("```ts\n[a](x.md)\n```\n[b](y.md)"), "```ts\n[a](x.md)\n```\n[b](Y.MD)");
  assert.equal(upper("````md\n```\n[a](x.md)\n```\n````"), "````md\n```\n[a](x.md)\n```\n````");
});

test("replacements know the line of the link", () => {
  const lines: number[] = [];
  replaceLinks("a\n\n[b](c.md)", (target, line) => {
    lines.push(line);
    return target;
  });
  assert.deepEqual(lines, [3]);
});

test("the title is the first heading outside code", () => {
  assert.equal(titleOf("```sh\n# comment\n```\n# The `konverge` command\n# Another"), "The konverge command");
  assert.equal(titleOf("no heading"), undefined);
});

test("anchors are those of headings and of HTML, the second of a text with a number", () => {
  const markdown = '# A `b`\n\n## See [c](d.md)\n\n## A b\n\n```sh\n# e\n```\n\n<a id="f"></a>\n';
  assert.deepEqual([...anchorsOf(markdown)], ["a-b", "see-c", "a-b-1", "f"]);
});

test("a section ends at the next heading of its level", () => {
  const markdown = "# A\n\n## One thing, here\n\ntext\n\n### Deeper\n\n```sh\n## no heading\n```\n\n## Two\n\nother\n";
  assert.equal(sectionOf(markdown, "one-thing-here"), "text\n\n### Deeper\n\n```sh\n## no heading\n```");
  assert.equal(sectionOf(markdown, "two"), "other");
  assert.equal(sectionOf(markdown, "three"), undefined);
});

test("a block shows the name of its file, and not what is for the tests", () => {
  assert.equal(
    showFileNames("```ts file=a.ts\nx\n```\n```text output\ny\n```"),
    "::: code-group\n```ts [a.ts]\nx\n```\n:::\n```text\ny\n```",
  );
  assert.equal(showFileNames("````md\n```ts file=a.ts\n```\n````"), "````md\n```ts file=a.ts\n```\n````");
});

test("a block can contain fences", () => {
  assert.equal(fenced("md", "```sh\nls\n```\n"), "````md\n```sh\nls\n```\n````");
});
