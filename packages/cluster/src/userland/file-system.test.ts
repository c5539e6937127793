import assert from "node:assert/strict";
import { test } from "node:test";
import { FileError } from "./file-error.ts";
import { FileSystem, type FileUser, type Mount, SET_GID } from "./file-system.ts";
import { directory, ensure, plant, regularFile, symbolicLink } from "./file-tree.ts";
import { Disk, Storage } from "./limits/storage.ts";

const USER: FileUser = { uid: 1000, gid: 1000, groups: [2000] };

function filesOf(user: FileUser, mounts = new Map<string, Mount>(), readOnly = false): FileSystem {
  const root = directory();
  plant(root, "etc/secret", regularFile("s", { mode: 0o600 }));
  plant(root, "etc/shared", regularFile("g", { mode: 0o640, gid: 2000 }));
  plant(root, "tmp", directory({ mode: 0o777 }));
  plant(root, "link", symbolicLink("/etc/shared"));
  plant(root, "loop", symbolicLink("/loop"));
  plant(root, "data", directory());
  return new FileSystem({ node: root, readOnly, type: "overlay" }, mounts, () => 0, user);
}

const code = (expected: string) => (error: unknown) => error instanceof FileError && error.code === expected;

test("permissions are checked for owner, group and others", () => {
  const files = filesOf(USER);
  assert.throws(() => files.read("/etc/secret"), code("EACCES"));
  assert.equal(files.readText("/etc/shared"), "g");
  assert.throws(() => files.write("/etc/new", "x"), code("EACCES"));
  files.write("/tmp/mine", "x");
  const { uid, mode } = files.stat("/tmp/mine");
  assert.deepEqual([uid, mode], [1000, 0o644]);
});

test("links lead on, and round in circles only so often", () => {
  const files = filesOf(USER);
  assert.equal(files.readText("/link"), "g");
  assert.equal(files.stat("/link", { follow: false }).kind, "link");
  assert.throws(() => files.read("/loop"), code("ELOOP"));
});

test("a volume lies over the files of the image, and may be read only", () => {
  const volume = directory({ mode: 0o777 });
  const files = filesOf(USER, new Map([["/data", { node: volume, readOnly: false, type: "tmpfs" }]]));
  files.write("/data/x", "1");
  assert.equal(volume.entries.get("x")?.kind, "file");
  assert.equal(files.stat("/data/x").mountType, "tmpfs");
  assert.throws(() => files.remove("/data", { recursive: true }), code("EBUSY"));
  const fixed = filesOf(USER, new Map([["/data", { node: volume, readOnly: true, type: "tmpfs" }]]));
  assert.throws(() => fixed.write("/data/x", "2"), code("EROFS"));
  assert.equal(fixed.readText("/data/x"), "1");
});

test("a read-only root refuses writes, and devices discard what is written to them", () => {
  const files = filesOf({ uid: 0, gid: 0, groups: [] }, new Map(), true);
  assert.throws(() => files.write("/x", "1"), code("EROFS"));
});

test("files in a folder of a group belong to the group", () => {
  const volume = directory({ mode: 0o777 | SET_GID, gid: 2000 });
  const files = filesOf(USER, new Map([["/data", { node: volume, readOnly: false, type: "ext4" }]]));
  files.write("/data/x", "1");
  files.makeDirectory("/data/deep/er", { parents: true });
  assert.equal(files.stat("/data/x").gid, 2000);
  assert.equal(files.stat("/data/deep/er").gid, 2000);
});

test("folders are removed with what is in them only when that is meant", () => {
  const files = filesOf(USER);
  files.makeDirectory("/tmp/a/b", { parents: true });
  assert.throws(() => files.remove("/tmp/a"), code("ENOTEMPTY"));
  files.remove("/tmp/a", { recursive: true });
  assert.equal(files.exists("/tmp/a"), false);
  assert.throws(() => files.list("/tmp/a"), code("ENOENT"));
});

test("a volume that is mounted behind a link stands where the link leads", () => {
  const root = directory();
  plant(root, "run", directory());
  plant(root, "var/run", symbolicLink("/run"));
  const place = ensure(root, "/var/run/secrets/tokens");
  assert.equal(place, "/run/secrets/tokens");
  const volume = directory();
  plant(volume, "token", regularFile("t"));
  const mounts = new Map([[place, { node: volume, readOnly: true, type: "tmpfs" }]]);
  const files = new FileSystem({ node: root, readOnly: false, type: "overlay" }, mounts, () => 0, USER);
  assert.equal(files.readText("/var/run/secrets/tokens/token"), "t");
});

function countedFiles(): { files: FileSystem; root: Storage; volume: Storage } {
  const disk = new Disk();
  const [root, volume] = [new Storage(disk), new Storage(disk, { size: 1000 })];
  const mounts = new Map([["/v", { node: directory(), readOnly: false, type: "tmpfs", storage: volume }]]);
  const tree = directory();
  plant(tree, "v", directory());
  return {
    files: new FileSystem({ node: tree, readOnly: false, type: "overlay", storage: root }, mounts, () => 0),
    root,
    volume,
  };
}

test("files count against their volume until they are removed", () => {
  const { files, root, volume } = countedFiles();
  files.write("/a", "12345");
  files.write("/a", "678", { append: true });
  assert.equal(root.bytes, 8);
  files.write("/a", "1");
  assert.equal(root.bytes, 1);
  files.makeDirectory("/d/e", { parents: true });
  files.write("/d/e/f", "123");
  files.rename("/d", "/v/d");
  assert.deepEqual([root.bytes, volume.bytes], [1, 3]);
  files.write("/v/g", "1234567");
  files.rename("/v/g", "/v/d/e/f");
  assert.equal(volume.bytes, 7);
  files.remove("/v/d", { recursive: true });
  assert.equal(volume.bytes, 0);
});

test("a full volume refuses writes and keeps its files", () => {
  const { files, volume } = countedFiles();
  files.write("/v/a", "x".repeat(900));
  assert.throws(() => files.write("/v/a", "y".repeat(200), { append: true }), code("ENOSPC"));
  assert.throws(() => files.write("/v/b", "y".repeat(200)), code("ENOSPC"));
  files.write("/b", "y".repeat(200));
  assert.throws(() => files.rename("/b", "/v/b"), code("ENOSPC"));
  assert.equal(files.stat("/v/a").size, 900);
  assert.equal(files.stat("/b").size, 200);
  assert.equal(volume.bytes, 900);
});

test("a copy does not change with its source", () => {
  const { files } = countedFiles();
  files.write("/a", "one", { append: true });
  files.write("/a", "two", { append: true });
  files.write("/b", files.read("/a"));
  files.write("/a", "three", { append: true });
  files.write("/c", files.read("/a"));
  files.write("/a", files.read("/b"));
  files.write("/a", "four", { append: true });
  assert.deepEqual(
    ["/a", "/b", "/c"].map((path) => files.readText(path)),
    ["onetwofour", "onetwo", "onetwothree"],
  );
});

test("names and paths are limited as on Linux", () => {
  const { files } = countedFiles();
  assert.throws(() => files.write(`/${"a".repeat(256)}`, ""), code("ENAMETOOLONG"));
  assert.throws(() => files.write("/a".repeat(3000), ""), code("ENAMETOOLONG"));
  files.makeDirectory("/a".repeat(2000), { parents: true });
  files.remove("/a", { recursive: true });
});
