import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { kubeconfigText } from "@konverge/apiserver";
import { VirtualClock } from "@konverge/core";
import { parse } from "yaml";
import { defaultKubeconfig, mergeKubeconfig, removeContext } from "./kubeconfig-file.ts";

const windows = process.platform === "win32";
let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kubeconfig-"));
  path = join(folder, "config");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ours = (url: string) =>
  kubeconfigText({ name: "konverge", url, user: "konverge-admin", credential: { token: "t" } });

const theirs = `apiVersion: v1
kind: Config
# production, careful
current-context: prod
clusters:
- name: prod
  cluster: { server: https://prod.example.com }
contexts:
- name: prod
  context: { cluster: prod, user: me }
users:
- name: me
  user: { token: secret }
`;

test("a context is added to a user's kubeconfig and made current, and the rest is unchanged", async () => {
  writeFileSync(path, theirs);
  await mergeKubeconfig(path, ours("https://127.0.0.1:1"));
  await mergeKubeconfig(path, ours("https://127.0.0.1:2"));
  const text = readFileSync(path, "utf8");
  const config = parse(text);
  assert.equal(config["current-context"], "konverge");
  assert.deepEqual(
    config.clusters.map(({ name }: { name: string }) => name),
    ["prod", "konverge"],
  );
  assert.equal(config.clusters[1].cluster.server, "https://127.0.0.1:2");
  assert.match(text, /# production, careful/);
  if (process.platform !== "win32") assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("it is taken out again, with its cluster and its user, and the context of before is current again", async () => {
  writeFileSync(path, theirs);
  await mergeKubeconfig(path, ours("https://127.0.0.1:1"));
  await removeContext(path, "konverge", "https://127.0.0.1:1");
  assert.deepEqual(parse(readFileSync(path, "utf8")), parse(theirs));
});

test("a context that has changed since is not removed", async () => {
  writeFileSync(path, theirs);
  await mergeKubeconfig(path, ours("https://127.0.0.1:2"));
  const before = readFileSync(path, "utf8");
  await removeContext(path, "konverge", "https://127.0.0.1:1");
  assert.equal(readFileSync(path, "utf8"), before);
});

const other = kubeconfigText({ name: "other", url: "https://127.0.0.1:2", user: "other-admin" });

test("whichever of two clusters ends first, the context of before both is current in the end", async () => {
  for (const first of ["konverge", "other"]) {
    writeFileSync(path, theirs);
    await mergeKubeconfig(path, ours("https://127.0.0.1:1"));
    await mergeKubeconfig(path, other);
    const remove = (name: string) => removeContext(path, name, `https://127.0.0.1:${name === "other" ? 2 : 1}`);
    await remove(first);
    await remove(first === "other" ? "konverge" : "other");
    assert.deepEqual(parse(readFileSync(path, "utf8")), parse(theirs), first);
  }
});

test("another cluster that came later stays, and stays current", async () => {
  await mergeKubeconfig(path, ours("https://127.0.0.1:1"));
  await mergeKubeconfig(path, other);
  await removeContext(path, "konverge", "https://127.0.0.1:1");
  const config = parse(readFileSync(path, "utf8"));
  assert.deepEqual([config["current-context"], config.contexts.length, config.users.length], ["other", 1, 1]);
  await removeContext(path, "other", "https://127.0.0.1:2");
  assert.equal(existsSync(path), false, "a file in which nothing is left goes");
});

test("an entry of the same name that Konverge did not create is neither overwritten nor removed", async () => {
  writeFileSync(path, theirs);
  const prod = kubeconfigText({ name: "prod", url: "https://127.0.0.1:1", user: "prod-admin" });
  await assert.rejects(
    mergeKubeconfig(path, prod),
    /has a cluster named prod that Konverge did not create: choose another --name/,
  );
  await removeContext(path, "prod", "https://prod.example.com");
  assert.equal(readFileSync(path, "utf8"), theirs);
});

test("a kubeconfig that is not there is made, and one that is none is not touched", async () => {
  await mergeKubeconfig(path, ours("https://127.0.0.1:1"));
  assert.equal(parse(readFileSync(path, "utf8")).contexts.length, 1);
  for (const text of ["- not\n- a map\n", "clusters: [\n  - {"]) {
    writeFileSync(path, text);
    await assert.rejects(mergeKubeconfig(path, ours("https://127.0.0.1:1")), /is not a kubeconfig/);
    assert.equal(readFileSync(path, "utf8"), text);
  }
  await assert.rejects(mergeKubeconfig(folder, ours("https://127.0.0.1:1")), /is not a file/);
});

test("a read-only kubeconfig stays as it is, and a link stays a link", { skip: windows }, async () => {
  writeFileSync(path, theirs, { mode: 0o444 });
  await assert.rejects(mergeKubeconfig(path, ours("https://127.0.0.1:1")), /is read-only: make it writable/);
  chmodSync(path, 0o644);
  const link = join(folder, "link");
  symlinkSync(path, link);
  await mergeKubeconfig(link, ours("https://127.0.0.1:1"));
  assert.ok(lstatSync(link).isSymbolicLink());
  assert.match(readFileSync(path, "utf8"), /current-context: konverge/);
});

test("another writer of the file, such as kubectl, is waited for, but not forever", async () => {
  writeFileSync(`${path}.lock`, "");
  const clock = new VirtualClock();
  const merged = mergeKubeconfig(path, ours("https://127.0.0.1:1"), clock);
  await clock.advance(1000);
  assert.equal(existsSync(path), false);
  rmSync(`${path}.lock`);
  await clock.advance(100);
  await merged;
  writeFileSync(`${path}.lock`, "");
  const refused = assert.rejects(
    removeContext(path, "konverge", "https://127.0.0.1:1", clock),
    /another process is writing/,
  );
  await clock.advance(10_000);
  await refused;
});

test("the first file of KUBECONFIG is the one that kubectl writes to", () => {
  assert.equal(
    defaultKubeconfig({ KUBECONFIG: ["", "/a/b", "/c"].join(process.platform === "win32" ? ";" : ":") }),
    "/a/b",
  );
  assert.match(defaultKubeconfig({}), /\.kube.config$/);
});
