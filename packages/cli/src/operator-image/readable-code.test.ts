import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { readableCode } from "./readable-code.ts";

/** Writes files of a project; a package.json gets a name. */
function project(...paths: string[]): { root: string; urls(...of: string[]): string[] } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "konverge-code-")));
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    const isManifest = path.endsWith("package.json");
    writeFileSync(join(root, path), isManifest ? JSON.stringify({ name: path.split("/").at(-2) ?? "mine" }) : "");
  }
  return { root, urls: (...of) => of.map((path) => pathToFileURL(join(root, path)).href) };
}

test("of a project the folders with modules can be read, of its top folder the modules alone", () => {
  const { root, urls } = project("package.json", "operator.ts", ".env", "src/a.ts", "src/deep/b.ts", "data/ca.key");
  try {
    assert.deepEqual(
      readableCode([...urls("operator.ts", "src/a.ts", "src/deep/b.ts"), "node:fs"]),
      ["operator.ts", "package.json", "src"].map((path) => join(root, path)),
    );
  } finally {
    rmSync(root, { recursive: true });
  }
});

test("installed packages can be read whole, and so can those that are linked, as in a workspace", {
  skip: process.platform === "win32",
}, () => {
  const { root, urls } = project(
    "package.json",
    "node_modules/zod/package.json",
    "node_modules/zod/index.js",
    "packages/linked/package.json",
    "packages/linked/src/a.ts",
    "packages/linked/data/facts.json",
    "packages/apart/package.json",
    "packages/apart/src/a.ts",
  );
  try {
    symlinkSync(join(root, "packages/linked"), join(root, "node_modules/linked"));
    assert.deepEqual(
      readableCode(urls("node_modules/zod/index.js", "packages/linked/src/a.ts", "packages/apart/src/a.ts")),
      ["node_modules", "packages/apart/package.json", "packages/apart/src", "packages/linked"].map((path) =>
        join(root, path),
      ),
    );
  } finally {
    rmSync(root, { recursive: true });
  }
});
