import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { learnRole } from "../program-permissions/learn-role.ts";
import { InClusterError, inCluster } from "./in-cluster-account.ts";
import { parseScenario } from "./scenario-file.ts";

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Why this machine cannot run these tests, if it cannot. */
function unavailable(): string | false {
  const folder = mkdtempSync(join(tmpdir(), "konverge-in-cluster-"));
  try {
    inCluster("true", folder, { namespace: "a", token: "b", ca: "c", port: 1 });
    return false;
  } catch (error) {
    if (error instanceof InClusterError) return error.message;
    throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const skip = unavailable();

test("a command finds the account of a pod, and everything else that is in the folder", { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-in-cluster-"));
  const isThere = existsSync(ACCOUNT);
  try {
    const account = { namespace: "operators", token: "it's", ca: "PEM", port: 6443 };
    const { command, env } = inCluster(`cat ${ACCOUNT}/namespace ${ACCOUNT}/token; echo; ls /var/run`, folder, account);
    const { stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
    const [first, ...entries] = stdout.trimEnd().split("\n");
    assert.equal(first, "operatorsit's", stderr);
    assert.deepEqual(entries.sort(), [...new Set([...readdirSync("/var/run"), "secrets"])].sort());
    assert.deepEqual(env, { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: "6443" });
    assert.equal(existsSync(ACCOUNT), isThere);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a program that believes to be in a pod reaches the embedded cluster through the proxy", { skip }, async () => {
  const program = join(import.meta.dirname, "../../test/black-box-program.mjs");
  const scenario = parseScenario(`
steps:
- apply:
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: web, labels: {parent: "yes"}}
- wait: {for: configmap/web-second, expression: "object.kind == 'ConfigMap'"}
`);
  const command = `exec '${process.execPath}' '${program}'`;
  const { suffices } = await learnRole({ command, scenarios: [scenario], inCluster: true, idleAfter: 700 });
  assert.equal(suffices, true);
});
