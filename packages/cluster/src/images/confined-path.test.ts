import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { ConfinedFolder, containerPath, subPathError } from "./confined-path.ts";

const skip = process.platform === "win32";
let base = "";
let root = "";
let outside = "";
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "confined-"));
  root = join(base, "root");
  outside = join(base, "outside");
  for (const folder of [root, outside]) mkdirSync(folder);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const ESCAPES = [
  "../outside/x",
  "/../outside/x",
  "a/../../outside/x",
  "/a/b/../../../../outside/x",
  "..//..//outside/x",
  "./../outside/x",
  "/proc/self/cwd/x",
  "/dev/shm/x",
  "//server/share/x",
  "~/x",
  "file:///x",
];

test("a path from a pod is absolute from the container's root and never above it", () => {
  const made = { "etc/x": "/etc/x", "/etc//./x/": "/etc/x", "../../etc/x": "/etc/x", "/..": "/", "": "/", a: "/a" };
  for (const [path, meant] of Object.entries(made)) assert.equal(containerPath(path), meant, path);
  assert.throws(() => containerPath("/etc/\0x"), /contains a NUL byte/);
});

test("a part of a volume is relative and goes down only", () => {
  assert.equal(subPathError(""), undefined);
  assert.equal(subPathError("a/..b/c"), undefined);
  assert.equal(subPathError("/etc"), "error SubPath `/etc` must not be an absolute path");
  assert.equal(subPathError("a/../b"), "unable to provision SubPath `a/../b`: must not contain '..'");
});

test("no path leads out of the folder, whatever it is made of", async () => {
  const folder = new ConfinedFolder(root);
  for (const path of ESCAPES) {
    assert.ok(folder.pathOf(path).startsWith(root + sep), path);
    await folder.write(path, "mine");
    assert.equal(readFileSync(folder.pathOf(path), "utf8"), "mine", path);
    await folder.makeFolder(`${path}-folder`);
    await folder.remove(path);
    assert.equal(existsSync(folder.pathOf(path)), false, path);
  }
  assert.deepEqual(readdirSync(base).sort(), ["outside", "root"]);
  assert.deepEqual(readdirSync(outside), []);
  for (const path of ["/", "..", "."]) await assert.rejects(folder.write(path, ""), /is the container's root/);
  await assert.rejects(folder.write("a\0b", ""), /contains a NUL byte/);
});

test("on Windows, drives, shares, streams and devices are refused", async () => {
  const folder = new ConfinedFolder(root, "win32");
  for (const path of [
    "C:\\x",
    "C:/x",
    "/a/..\\..\\x",
    "\\\\server\\share\\x",
    "/a:stream",
    "/nul",
    "/a/CON.txt",
    "/a./x",
  ])
    await assert.rejects(folder.write(path, ""), /cannot be on this machine/, path);
  assert.deepEqual(readdirSync(root), []);
});

test("links in the folder are replaced, not followed, when something is written or removed", { skip }, async () => {
  const folder = new ConfinedFolder(root);
  writeFileSync(join(outside, "file"), "theirs");
  mkdirSync(join(outside, "kept"));
  writeFileSync(join(outside, "kept", "file"), "theirs");
  symlinkSync(outside, join(root, "folder"));
  symlinkSync(join(outside, "file"), join(root, "file"));
  symlinkSync(join(outside, "new"), join(root, "dangling"));
  symlinkSync(join(outside, "file"), join(root, "..new"));
  await folder.remove("/folder/file");
  await folder.remove("/folder/kept/file");
  await folder.write("/folder/file", "mine");
  await folder.write("/file", "mine");
  await folder.write("/dangling", "mine");
  for (const path of ["folder/file", "file", "dangling"]) {
    assert.equal(readFileSync(join(root, path), "utf8"), "mine");
    assert.ok(lstatSync(join(root, path)).isFile());
  }
  symlinkSync(outside, join(root, "made"));
  await folder.makeFolder("/made/below");
  assert.ok(lstatSync(join(root, "made")).isDirectory());
  assert.deepEqual(readdirSync(outside).sort(), ["file", "kept"]);
  assert.equal(readFileSync(join(outside, "file"), "utf8"), "theirs");
  assert.equal(readFileSync(join(outside, "kept", "file"), "utf8"), "theirs");
});

test("a file in place of a folder is replaced, and a file beside it stays unchanged", async () => {
  const folder = new ConfinedFolder(root);
  await folder.write("/a.new", "one");
  await folder.write("/a", "two");
  assert.equal(readFileSync(join(root, "a.new"), "utf8"), "one");
  await folder.write("/a/b", "three");
  assert.equal(readFileSync(join(root, "a", "b"), "utf8"), "three");
});

test("a folder that was replaced by a link as a whole is not written to", { skip }, async () => {
  const folder = new ConfinedFolder(root);
  renameSync(root, join(base, "moved"));
  symlinkSync(outside, root);
  await assert.rejects(folder.write("/x", ""), /is gone/);
  assert.deepEqual(readdirSync(outside), []);
});
