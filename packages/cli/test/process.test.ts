import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Deployment } from "@konverge/kinds";
import { commandStage, until } from "./command-stage.ts";
import { Greeting } from "./greeting-operator.ts";
import { startKonverge } from "./started-konverge.ts";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const konverge = (...args: string[]) => startKonverge(args);

test("Ctrl-C lets operators finish; the process ends well", { skip: process.platform === "win32" }, async () => {
  await using stage = await commandStage();
  const { child, ended, output } = konverge(
    "run",
    path("./greeting-operator.ts"),
    "--install",
    "--kubeconfig",
    stage.kubeconfig,
    "--metrics-bind-address=0",
    "--health-probe-bind-address=0",
  );
  try {
    await until("it is at work", () => output().includes('"at work"'));
    child.kill("SIGINT");
    assert.deepEqual(await ended, [0, null], output());
    assert.match(output(), /waiting for reconciles in progress[\s\S]*"stopped"/);
  } finally {
    child.kill("SIGKILL");
  }
});

test("konverge explore needs no operators but those of the module", async () => {
  const refused = `import { registerHooks } from "node:module";
    registerHooks({ resolve(name, context, next) {
      if (!name.startsWith("@konverge/operators")) return next(name, context);
      throw Object.assign(new Error("Cannot find package '@konverge/operators'"), { code: "ERR_MODULE_NOT_FOUND" });
    } });`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(refused)}` };
  const words = ["explore", path("./greeting-operator.ts"), "--faults", "deletion", "--workers", "1"];
  const explored = startKonverge(words, env);
  assert.deepEqual(await explored.ended, [0, null], explored.output());
  assert.match(explored.output(), /^no findings, /m);
});

test("konverge dev ends with the npm that started it, though npm was killed", {
  skip: process.platform === "win32" && "Windows keeps the number of a parent that is gone",
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-dev-"));
  const words = [path("../bin/konverge.js"), "dev", path("./greeting-operator.ts"), "--no-console", "--name", "orphan"];
  const options = { stdio: "inherit", env: { ...process.env, npm_lifecycle_event: "dev", KONVERGE_HOME: folder } };
  const program = `import { spawn } from "node:child_process";
    console.log("pid", spawn(process.execPath, ${JSON.stringify(words)}, ${JSON.stringify(options)}).pid);`;
  const npm = spawn(process.execPath, ["--input-type=module", "--eval", program], { cwd: folder });
  let output = "";
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  // Dev shares its output: it is closed when both have ended.
  let isClosed = false;
  npm.once("close", () => {
    isClosed = true;
  });
  try {
    await until("it is at work", () => output.includes("at work"));
    npm.kill("SIGKILL");
    await until("dev has ended", () => isClosed);
    assert.ok(!existsSync(join(folder, ".konverge", "kubeconfig")), output);
  } finally {
    const pid = Number(/pid (\d+)/.exec(output)?.[1]);
    if (pid && !isClosed) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});

test("webhooks of a run that was killed are named, and removed on request", async () => {
  await using stage = await commandStage();
  const { client, kubeconfig } = stage;
  const nowhere = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
  const args = ["run", path("./greeting-operator.ts"), "--install", "--kubeconfig", kubeconfig, ...nowhere];
  const killed = konverge(...args, "--webhook-host=127.0.0.1", "--webhook-port=0");
  try {
    await until("it is at work", () => killed.output().includes('"at work"'));
  } finally {
    killed.child.kill("SIGKILL");
  }
  await killed.ended;
  const hello = Greeting.new({ metadata: { name: "one", namespace: "default" }, spec: { to: "you" } });
  await assert.rejects(client.create(Greeting, hello), /failed calling webhook/);
  const named = konverge("install", path("./greeting-operator.ts"), "--dry-run", "--kubeconfig", kubeconfig);
  await named.ended;
  assert.match(named.output(), /ended without removing its webhooks.*greeting-operator \(https.*konverge cleanup/);
  const asked = konverge("cleanup", "--kubeconfig", kubeconfig);
  await asked.ended;
  assert.match(asked.output(), /nothing was removed: --yes removes it/);
  const removed = konverge("cleanup", "--yes", "--kubeconfig", kubeconfig);
  assert.deepEqual(await removed.ended, [0, null], removed.output());
  await client.create(Greeting, hello);
  const again = konverge("cleanup", "--yes", "--kubeconfig", kubeconfig);
  await again.ended;
  assert.equal(again.output(), "there is nothing to remove\n");
});

test("a port of the console that is in use is named, with the option that sets it", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  try {
    const { port } = other.address() as AddressInfo;
    const results = path("../../../bench/results/apiserver.md");
    const refused = konverge("console", "--results", results, "--port", String(port));
    assert.deepEqual(await refused.ended, [1, null]);
    assert.equal(
      refused.output(),
      `konverge: port ${port} is in use by another process: choose another with --port, or 0 for any\n`,
    );
  } finally {
    other.close();
  }
});

test("settings are options of the commands that write and deploy manifests", async () => {
  await using stage = await commandStage();
  const module = path("./greeting-operator.ts");
  const output = join(stage.folder, "config");
  const image = "--image=example.com/greetings:1";
  const written = konverge("manifests", module, "--word=Ahoy", "--output", output, image);
  assert.deepEqual(await written.ended, [0, null], written.output());
  const deployment = readFileSync(join(output, "greeting-operator/deployment.yaml"), "utf8");
  assert.match(deployment, /name: GREETING_WORD\n\s+value: Ahoy/);
  const mistyped = konverge("manifests", module, "--wrod=Ahoy", "--output", output, image);
  assert.deepEqual(await mistyped.ended, [1, null]);
  assert.match(mistyped.output(), /unknown option --wrod: these operators have --word; "konverge manifests --help"/);
  const deployed = konverge("deploy", module, "--word", "Ahoy", image, "--no-wait", "--kubeconfig", stage.kubeconfig);
  assert.deepEqual(await deployed.ended, [0, null], deployed.output());
  const { spec } = await stage.client.get(Deployment, "default/greeting-operator");
  const [container] = spec!.template.spec!.containers;
  assert.equal(container!.env!.find(({ name }) => name === "GREETING_WORD")?.value, "Ahoy");
});

test("a mistake is reported in a line, without a stack, and ends the process with 1", async () => {
  const { ended, output } = konverge("run", "./no-such-file.ts");
  assert.deepEqual(await ended, [1, null]);
  assert.equal(output(), "konverge: there is no file ./no-such-file.ts: name a module that exports an operator\n");
});
