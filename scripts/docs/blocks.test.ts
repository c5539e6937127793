import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksOf } from "./blocks.ts";

test("the blocks of a document come with language, info, text and line", () => {
  const markdown = "# A\n\n```ts file=a.ts\nconst a = 1;\n```\n\ntext\n\n```sh\nls\n\npwd\n```\n";
  assert.deepEqual(blocksOf(markdown), [
    { language: "ts", info: "file=a.ts", text: "const a = 1;", line: 3 },
    { language: "sh", info: "", text: "ls\n\npwd", line: 9 },
  ]);
});

test("a longer fence holds shorter ones", () => {
  assert.deepEqual(blocksOf("````md\n```sh\nls\n```\n````"), [
    { language: "md", info: "", text: "```sh\nls\n```", line: 1 },
  ]);
});
