import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ConfigMap, CustomResourceDefinition, Secret } from "@konverge/kinds";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type CommandStage, commandStage, until } from "../../test/command-stage.ts";
import { Leak } from "../../test/leaking-operator.ts";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const leak = (name: string) => Leak.new({ metadata: { name, namespace: "default" }, spec: { size: 1 } });

/** An agent with the server that its configuration names. */
async function agent(folder: string, ...options: string[]) {
  const client = new Client({ name: "test", version: "1.0.0" });
  const words = [path("../../bin/konverge.js"), "mcp", ...options];
  const env = { PATH: process.env["PATH"] ?? "", KONVERGE_HOME: join(folder, ".konverge") };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: words, cwd: folder, env }));
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const [first] = content as { type: string; text: string }[];
    return { text: first!.text, isError: isError === true };
  };
  const tools = async () => (await client.listTools()).tools;
  return { call, tools, [Symbol.asyncDispose]: () => client.close() };
}

describe("konverge mcp, read-only", () => {
  let stage: CommandStage;
  before(async () => {
    stage = await commandStage();
    await stage.client.create(CustomResourceDefinition, Leak.crd());
    await until("it is served", async () => Boolean(await stage.client.create(Leak, leak("one"))));
    const metadata = { name: "passwords", namespace: "default" };
    await stage.client.create(Secret, { metadata, data: { password: "c2VjcmV0LXZhbHVl" } });
  });
  after(() => stage[Symbol.asyncDispose]());

  test("it has no tool that writes, and says so of each", async () => {
    await using connected = await agent(stage.folder, "--kubeconfig", stage.kubeconfig);
    const tools = await connected.tools();
    assert.deepEqual(tools.map(({ name }) => name).sort(), ["explain_finding", "get_object", "status", "timeline"]);
    assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
    assert.equal(
      (await connected.call("apply", { yaml: "kind: ConfigMap" }).catch(() => ({ isError: true }))).isError,
      true,
    );
  });

  test("it shows objects, why they are not ready, what happened to them, and no values of Secrets", async () => {
    await using connected = await agent(stage.folder, "--kubeconfig", stage.kubeconfig);
    const { text } = await connected.call("status");
    assert.match(text, /"kind": "Leak",[\s\S]*"name": "one"/);
    const secret = await connected.call("get_object", { kind: "Secret", name: "passwords" });
    assert.match(secret.text, /password: \(hidden\)/);
    assert.doesNotMatch(secret.text, /c2VjcmV0LXZhbHVl|secret-value/);
    await stage.client.patch(Leak, "default/one", { merge: { spec: { size: 2 } } }, { fieldManager: "somebody" });
    let timeline = "";
    await until("the change is seen", async () => {
      timeline = (await connected.call("timeline", { kind: "Leak", name: "one" })).text;
      return timeline.includes("spec.size");
    });
    assert.match(timeline, /"by": "somebody"[\s\S]*"path": "spec\.size",\s+"before": "1",\s+"after": "2"/);
    const missing = await connected.call("get_object", { kind: "Leak", name: "none" });
    assert.deepEqual(missing, { text: "there is no Leak none, or it cannot be watched", isError: true });
  });

  test("it sees what its user is permitted to see, and names what is not", async () => {
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list", "watch"] }];
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "maps" }, rules };
    const { ClusterRole, ClusterRoleBinding, ServiceAccount } = await import("@konverge/kinds");
    await stage.client.create(ClusterRole, role);
    await stage.client.create(ServiceAccount, { metadata: { name: "agent", namespace: "default" } });
    await stage.client.create(ClusterRoleBinding, {
      metadata: { name: "maps" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "maps" },
      subjects: [{ kind: "ServiceAccount", name: "agent", namespace: "default" }],
    });
    await stage.client.create(ConfigMap, { metadata: { name: "seen", namespace: "default" } });
    const { token } = await stage.client.requestToken("default/agent");
    const config = stage.port.kubeconfig().replace(/client-(certificate|key)-data: .*\n\s*/g, "");
    const kubeconfig = join(stage.folder, "agent");
    writeFileSync(kubeconfig, config.replace(/(users:[\s\S]*user:)[^\n]*\n?/, `$1\n      token: ${token}\n`));
    await using connected = await agent(stage.folder, "--kubeconfig", kubeconfig);
    assert.match((await connected.call("status", { kind: "ConfigMap" })).text, /"name": "seen"/);
    const secrets = await connected.call("status", { kind: "Secret" });
    assert.doesNotMatch(secrets.text, /passwords/);
    assert.match(secrets.text, /"notPermitted": \[[\s\S]*"Secret"/);
  });
});

test("with --allow-writes an agent starts a cluster, applies, explores a project, and reads what was found", async () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-mcp-"));
  try {
    mkdirSync(join(folder, "src"));
    writeFileSync(join(folder, "package.json"), '{ "name": "greetings", "type": "module" }');
    symlinkSync(path("../../../../node_modules"), join(folder, "node_modules"));
    cpSync(path("../../test/leaking-operator.ts"), join(folder, "src", "operator.ts"));
    await using connected = await agent(folder, "--allow-writes");
    const started = await connected.call("start_cluster", { nodes: 1 });
    assert.match(started.text, /"kubeconfig": ".*\.konverge\/mcp-kubeconfig"/);
    const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: made\n  namespace: default\n";
    const applied = await connected.call("apply", { yaml });
    assert.match(applied.text, /ConfigMap default\/made/);
    await until("it is seen", async () => {
      const { isError } = await connected.call("get_object", { kind: "ConfigMap", name: "made" });
      return !isError;
    });
    assert.deepEqual(await connected.call("delete_object", { kind: "ConfigMap", name: "made" }), {
      ...{ text: "deleted", isError: false },
    });
    const outside = await connected.call("explore", { module: "../operator.ts" });
    assert.deepEqual(outside, { text: "../operator.ts is not in the folder of the project", isError: true });
    symlinkSync("/etc/hostname", join(folder, "link.json"));
    const linked = await connected.call("explain_finding", { file: "link.json" });
    assert.deepEqual(linked, { text: "link.json is not in the folder of the project", isError: true });
    const explored = await connected.call("explore", { faults: ["crash"], seconds: 60 });
    assert.match(explored.text, /[1-9]\d* findings/);
    const [, number] = /^(\d+)\. leak: /m.exec((await connected.call("explain_finding")).text) ?? [];
    const explained = await connected.call("explain_finding", { number: Number(number) });
    assert.match(
      explained.text,
      /^leak: An object is there at the end that a run without faults does not leave[\s\S]*fault: crash[\s\S]*operator #1/,
    );
    assert.equal((await connected.call("stop_cluster")).text, "stopped");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
