import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { makeFolder } from "./make-folder.ts";
import { UsageError } from "./usage-error.ts";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "konverge-folder-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const windows = process.platform === "win32";
const refused = (path: string, why: RegExp) =>
  assert.throws(
    () => makeFolder(path, `--data ${path}`),
    (error) => error instanceof UsageError && why.test(error.message),
  );

test("a folder is made with those above it, and one that is there is left as it is", () => {
  const path = join(folder, "a", "b", "c");
  makeFolder(path, "--data", 0o700);
  makeFolder(path, "--data", 0o700);
  assert.ok(existsSync(path));
  if (!windows) assert.equal(statSync(path).mode & 0o777, 0o700);
});

test("a file is no folder, nor is what would be below it", () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  refused(file, /--data .* cannot be used: .*file is not a folder\. Choose a folder/);
  refused(join(file, "below"), /file is not a folder|cannot be created/);
});

test("where no folder can be made, that is said at once", { skip: process.platform !== "linux" }, () => {
  refused("/proc/konverge/data", /\/proc\/konverge cannot be created there/);
  const loop = join(folder, "loop");
  symlinkSync(loop, loop);
  refused(loop, /is a symbolic link to itself|is not a folder/);
  refused(join(folder, "x".repeat(300)), /name that is too long/);
});
