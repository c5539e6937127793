import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "../..");
/** Packages whose README.md is for their users, and names files of theirs. */
const FOR_USERS = new Set([
  "konverge",
  "dev",
  "create-konverge",
  "envtest-go",
  "envtest-rust",
  "junit-konverge",
  "pytest-konverge",
  "setup-konverge",
]);

/** The code spans of a page that begin with one of these folders. */
const paths = (file: string, folders: string) =>
  [...readFileSync(join(ROOT, file), "utf8").matchAll(new RegExp(`\`((?:${folders})/[\\w./-]+)\``, "g"))].map(
    (match) => match[1] ?? "",
  );

const packages = globSync("packages/*/package.json", { cwd: ROOT }).map(dirname);

test("the files that the architecture page names exist", () => {
  const named = paths("docs/architecture.md", "packages");
  assert.ok(named.length > 30);
  assert.deepEqual(
    named.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
});

test("each package has a page that names where to begin, and the files on it exist", () => {
  for (const folder of packages) {
    const page = join(folder, "README.md");
    assert.ok(
      existsSync(join(ROOT, page)),
      `${page} is missing: write what the package is, and which file to read first`,
    );
    if (FOR_USERS.has(folder.slice("packages/".length))) continue;
    const named = paths(page, "src|page|build");
    assert.ok(named.length > 0, `${page} names no file`);
    assert.deepEqual(
      named.filter((path) => !existsSync(join(ROOT, folder, path))),
      [],
      page,
    );
  }
});
