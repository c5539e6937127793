import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Client } from "@konverge/client";
import { Namespace, Pod, RoleBinding, ServiceAccount } from "@konverge/kinds";
import { type CommandStage, commandStage, until } from "../../test/command-stage.ts";
import { type OperatorCatalog, operatorCatalog } from "./catalog.ts";
import { OPERATOR_IMAGE, operatorProgram } from "./operator-image.ts";

const MODULE = fileURLToPath(new URL("../../test/prying-operator.ts", import.meta.url));

let catalog: OperatorCatalog;
let folder: string;
before(async () => {
  catalog = await operatorCatalog({ modules: [MODULE] });
  folder = mkdtempSync(join(tmpdir(), "konverge-outside-"));
  writeFileSync(join(folder, "secret"), "the machine's own");
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** A cluster that knows the image of operators, and a client with the role edit in one namespace. */
async function stageWithEditor(): Promise<CommandStage & { editor: Client }> {
  const stage = await commandStage();
  const { cluster, client } = stage;
  cluster.image(OPERATOR_IMAGE, { run: operatorProgram(catalog, { clock: cluster.clock }) });
  const namespace = "team";
  await client.create(Namespace, { metadata: { name: namespace } });
  await client.create(ServiceAccount, { metadata: { name: "editor", namespace } });
  await client.create(RoleBinding, {
    metadata: { name: "editor", namespace },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
    subjects: [{ kind: "ServiceAccount", name: "editor", namespace }],
  });
  await until("pods can be created", async () => Boolean(await client.get(ServiceAccount, `${namespace}/default`)));
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
  return { ...stage, editor: client.as({ user: `system:serviceaccount:${namespace}:editor`, groups } as never) };
}

async function create(editor: Client, name: string, args: string[], env: Record<string, string> = {}): Promise<void> {
  const variables = Object.entries(env).map(([key, value]) => ({ name: key, value }));
  await editor.create(Pod, {
    metadata: { name, namespace: "team" },
    spec: { restartPolicy: "Never", containers: [{ name: "main", image: OPERATOR_IMAGE, args, env: variables }] },
  });
}

async function logOf(editor: Client, name: string): Promise<string> {
  let text = "";
  for await (const line of editor.logs(`team/${name}`)) text += `${line}\n`;
  return text;
}

test("a pod names no code, no files and no other identity: whatever its args say, nothing of it is loaded", async () => {
  await using stage = await stageWithEditor();
  const { editor } = stage;
  const marker = join(folder, "marker");
  const script = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(marker)}, "");`;
  const url = `data:text/javascript,${encodeURIComponent(script)}`;
  const file = join(folder, "evil.mjs");
  writeFileSync(file, script);
  const attempts: Record<string, [args: string[], refusal: RegExp]> = {
    "data-url": [["run", url], /a pod of an embedded cluster cannot name a module/],
    "after-dashes": [["run", "--", url], /cannot name a module/],
    file: [["run", file], /cannot name a module/],
    "file-url": [["run", `file://${file}`], /cannot name a module/],
    package: [["run", "@konverge/operators"], /cannot name a module/],
    watch: [["run", "--watch", file], /--watch affects the machine/],
    record: [["run", "--operators=prying", `--record=${marker}`], /--record affects the machine/],
    kubeconfig: [["run", "--kubeconfig", stage.kubeconfig], /--kubeconfig affects the machine/],
    context: [["run", "--context=other"], /--context affects the machine/],
    install: [["run", "--install"], /--install affects the machine/],
    inspect: [["run", "--inspect=0.0.0.0:9229"], /unknown option --inspect/],
    import: [["--import", url, "run"], /unknown option '--import'/],
    other: [["run", "--operators=llm"], /there is no operator named llm: .* some of prying-operator/],
    up: [["up", "--program", `x=touch ${marker}`], /unknown command 'up'|unknown option '--program'/],
  };
  for (const [name, [args]] of Object.entries(attempts)) await create(editor, name, args);
  for (const [name, [, refusal]] of Object.entries(attempts)) {
    await until(`${name} has failed`, async () => (await editor.get(Pod, `team/${name}`)).status?.phase === "Failed");
    assert.match(await logOf(editor, name), refusal);
  }
  assert.ok(!existsSync(marker));
});

test("an operator in a pod reaches nothing of the machine but its code and its own folder", async () => {
  await using stage = await stageWithEditor();
  const { editor } = stage;
  const args = ["run", "--operators=prying", "--webhooks=off"];
  await create(editor, "prying", args, {
    OUTSIDE: join(folder, "secret"),
    LD_PRELOAD: "/tmp/evil.so",
    NODE_OPTIONS: "--import=data:text/javascript,process.exit(66)",
    NODE_EXTRA_CA_CERTS: join(folder, "secret"),
    PATH: folder,
    OTHER: "anything",
  });
  let line = "";
  await until("it has pried", async () => {
    line = (await logOf(editor, "prying")).split("\n").find((one) => one.includes('"pried"')) ?? "";
    return line !== "";
  });
  const { tried, env, arguments: given } = JSON.parse(line) as Record<string, unknown>;
  assert.deepEqual(tried, {
    "read outside": "ERR_ACCESS_DENIED",
    "write outside": "ERR_ACCESS_DENIED",
    "link outside": "ERR_ACCESS_DENIED",
    "open a database outside": "ERR_UNKNOWN_BUILTIN_MODULE",
    "start a process": "ERR_ACCESS_DENIED",
    "start a worker": "ERR_ACCESS_DENIED",
    "load an addon": "ERR_DLOPEN_DISABLED",
    "write its own folder": "done",
    "read its own folder": "done",
  });
  assert.deepEqual(env, process.platform === "win32" ? ["SystemRoot"] : []);
  assert.deepEqual(given, []);
  assert.deepEqual(readdirSync(folder).sort(), ["evil.mjs", "secret"]);
});
