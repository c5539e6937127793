import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadResults, resultOf } from "./results-source.ts";

const RESULT = `# A start

2026-11-17, 2 cores, see
[the guide](guide.md).

| measure | \`embedded\` | real |
| --- | --- | --- |
| start \\| ready | **1,193 ms** | 5,512 ms |
`;

test("a result is the title, the paragraphs and the tables of a Markdown file, without its marks", () => {
  assert.deepEqual(resultOf("start.md", RESULT), {
    file: "start.md",
    title: "A start",
    parts: [
      "2026-11-17, 2 cores, see the guide.",
      { head: ["measure", "embedded", "real"], rows: [["start | ready", "1,193 ms", "5,512 ms"]] },
    ],
  });
});

test("of a folder, files with tables are results, and a path without any is an error", async () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-results-"));
  try {
    writeFileSync(join(folder, "README.md"), "# Only text\n");
    const only = join(folder, "README.md");
    await assert.rejects(loadResults([folder]), /has no table: name a Markdown file that a benchmark wrote/);
    writeFileSync(join(folder, "start.md"), RESULT);
    assert.deepEqual(
      (await loadResults([folder])).map(({ title }) => title),
      ["A start"],
    );
    await assert.rejects(loadResults([folder, only]), /README\.md has no table/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
