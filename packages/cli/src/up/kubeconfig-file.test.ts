import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { kubeconfigText } from "@konverge/apiserver";
import { parse } from "yaml";
import { defaultKubeconfig, mergeKubeconfig, removeContext } from "./kubeconfig-file.ts";

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

test("a context is added to a user's kubeconfig, made current, and leaves the rest alone", () => {
  writeFileSync(path, theirs);
  mergeKubeconfig(path, ours("https://127.0.0.1:1"));
  mergeKubeconfig(path, ours("https://127.0.0.1:2"));
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

test("it is taken out again, with its cluster and its user", () => {
  writeFileSync(path, theirs);
  mergeKubeconfig(path, ours("https://127.0.0.1:1"));
  removeContext(path, "konverge");
  const config = parse(readFileSync(path, "utf8"));
  assert.deepEqual({ ...config, "current-context": "prod" }, parse(theirs));
  assert.equal(config["current-context"], "");
});

test("a kubeconfig that is not there is made, and one that is none is not touched", () => {
  mergeKubeconfig(path, ours("https://127.0.0.1:1"));
  assert.equal(parse(readFileSync(path, "utf8")).contexts.length, 1);
  writeFileSync(path, "- not\n- a map\n");
  assert.throws(() => mergeKubeconfig(path, ours("https://127.0.0.1:1")), /is not a kubeconfig/);
  assert.equal(readFileSync(path, "utf8"), "- not\n- a map\n");
});

test("the first file of KUBECONFIG is the one that kubectl writes to", () => {
  assert.equal(
    defaultKubeconfig({ KUBECONFIG: ["", "/a/b", "/c"].join(process.platform === "win32" ? ";" : ":") }),
    "/a/b",
  );
  assert.match(defaultKubeconfig({}), /\.kube.config$/);
});
