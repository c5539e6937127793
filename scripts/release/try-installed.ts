import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { NODE_MINIMUM } from "./layout.ts";

/** An operator as a user writes it, in TypeScript, on what was installed. */
const OPERATOR = `import { controller, defineKind, type Operator, operator, z } from "konverge";
import { ConfigMap } from "konverge/kinds";

export const Greeting = defineKind({
  group: "try.example.com",
  kind: "Greeting",
  versions: { v1: { spec: z.object({ text: z.string() }), status: z.object({ said: z.string().optional() }) } },
});

export const greetings = controller(Greeting, {
  owns: [ConfigMap],
  reconcile({ metadata: { name }, spec: { text } }) {
    const child = ConfigMap.draft({ metadata: { name }, data: { text } });
    return { children: [child], status: { said: text } };
  },
});

export const greeter: Operator = operator({
  name: "greeter",
  description: "greets",
  kinds: [Greeting],
  create: () => ({ controllers: [greetings] }),
});
`;

/** What a user's test does: the operator on the embedded cluster, in this process. */
const IN_PROCESS = `import { run } from "konverge";
import { ConfigMap } from "konverge/kinds";
import { startCluster } from "@konverge/dev";
import { Greeting, greetings } from "./operator.ts";

const cluster = await startCluster();
await cluster.client.create({ ...CustomResourceDefinition() }, Greeting.crd());
const manager = await run(greetings, { client: cluster.client });
await cluster.client.create(Greeting.new({ metadata: { name: "hello", namespace: "default" }, spec: { text: "hi" } }));
for (;;) {
  const child = await cluster.client.get(ConfigMap, "default/hello").catch(() => undefined);
  if (child?.data?.text === "hi") break;
  await new Promise((resolve) => setTimeout(resolve, 20));
}
await manager.stop();
await cluster.stop();
console.log("in process: well");

function CustomResourceDefinition() {
  const [group, version, plural] = ["apiextensions.k8s.io", "v1", "customresourcedefinitions"];
  return { group, version, kind: "CustomResourceDefinition", plural, namespaced: false };
}
`;

/** Talks to a cluster of `konverge up` without kubectl. */
const OVER_THE_WIRE = `import { connect } from "konverge/client";
import { Deployment } from "konverge/kinds";

const client = await connect({ kubeconfig: process.argv[2] });
const { items } = await client.list(Deployment);
console.log(items.map(({ metadata, status }) => metadata.name + " " + status.availableReplicas).join("\\n"));
await client.close();
`;

const PATIENCE = 180_000;

/**
 * Installs tarballs into a new project, as a user does, and does what users do first: type-check and run an operator of
 * their own, `npx konverge up`, a request, `down`, `envtest`, `explore`. Then without the packages that are optional.
 */
export async function tryInstalled(tarballs: readonly string[], options: { runtimes?: boolean } = {}): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "konverge-installed-"));
  const env = { ...process.env, KONVERGE_HOME: join(folder, "home"), NODE_COMPILE_CACHE: join(folder, "compiled") };
  const outcome = (command: string, ...args: string[]) =>
    promisify(execFile)(command, args, { cwd: folder, env, timeout: PATIENCE }).then(
      ({ stdout }) => ({ stdout, stderr: "", failed: false }),
      (error: { stdout: string; stderr: string }) => ({ stdout: error.stdout, stderr: error.stderr, failed: true }),
    );
  const node = async (...args: string[]) => said(await outcome(process.execPath, ...args), args.join(" "));
  const konverge = (...args: string[]) => node(join("node_modules", ".bin", "konverge"), ...args);
  try {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const paths = tarballs.map((path) => resolve(path));
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--silent", ...paths], {
      cwd: folder,
      stdio: "inherit",
    });
    mkdirSync(join(folder, "src"));
    for (const [file, text] of Object.entries({ "src/operator.ts": OPERATOR, "src/in-process.ts": IN_PROCESS })) {
      writeFileSync(join(folder, file), text);
    }
    writeFileSync(join(folder, "request.js"), OVER_THE_WIRE);

    await typeChecks(folder);
    expect(await node("src/in-process.ts"), "in process: well");
    if (options.runtimes) await triesRuntimes(folder, env);
    expect(await konverge("operators", "src/operator.ts"), "greeter: greets");
    const { operators } = await import("@konverge/operators");
    const listed = await konverge("operators", "@konverge/operators");
    for (const { name } of operators) expect(listed, `${name}: `);

    const kubeconfig = join(folder, "kubeconfig");
    await konverge("up", "--background", "--kubeconfig", kubeconfig, "--operators", "greeter,llm");
    try {
      expect(await node("request.js", kubeconfig), "greeter 1\nllm-operator 1");
    } finally {
      expect(await konverge("down"), "cluster konverge has ended");
    }
    await envtestStarts((await konverge("envtest", "--folder", join(folder, "assets"))).trim(), folder);

    // A user's project has no operators but its own.
    rmSync(join(folder, "node_modules", "@konverge", "operators"), { recursive: true });
    expect(await konverge("explore", "src/operator.ts"), "no findings");

    rmSync(join(folder, "node_modules", "@konverge"), { recursive: true });
    rmSync(join(folder, "src"), { recursive: true });
    expect((await outcome("npx", "konverge", "up")).stderr, "npm install --save-dev @konverge/dev");
    expect((await outcome("npx", "konverge", "run")).stderr, "npm install @konverge/operators");
    console.log("installed and tried: types, an operator, up, a request, down, envtest, explore, what is missing");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function typeChecks(folder: string): Promise<void> {
  const options = {
    target: "esnext",
    module: "nodenext",
    strict: true,
    noEmit: true,
    types: [],
    lib: ["esnext", "dom"],
  };
  const config = {
    compilerOptions: { ...options, allowImportingTsExtensions: true, skipLibCheck: true },
    include: ["src"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  execFileSync(resolve("node_modules/.bin/tsc"), ["-p", folder], { stdio: "inherit" });
}

/** Other programs that run JavaScript, and a Node that is too old: what npm has of them, in a folder beside the project. */
async function triesRuntimes(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const runtimes = [
    { name: "bun", version: "bun@1", args: [], expected: "in process: well" },
    { name: "deno", version: "deno@2", args: ["run", "--allow-all"], expected: "in process: well" },
    {
      name: "node",
      version: "node@22",
      args: [],
      expected: `konverge needs Node ${NODE_MINIMUM} or newer; this is Node 22`,
    },
  ];
  for (const { name, version, args, expected } of runtimes) {
    const home = join(folder, `runtime-${name}`);
    mkdirSync(home);
    writeFileSync(join(home, "package.json"), JSON.stringify({ private: true, allowScripts: { [name]: true } }));
    const program = join(home, "node_modules", ".bin", name);
    try {
      execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent", version], { cwd: home, stdio: "pipe" });
      execFileSync(program, ["--version"], { stdio: "pipe" });
    } catch (error) {
      console.log(
        `not tried with ${name}: npm has no program for this machine (${(error as Error).message.split("\n")[0]})`,
      );
      continue;
    }
    // A Node that is too old cannot read TypeScript either.
    const script = name === "node" ? "request.js" : join("src", "in-process.ts");
    const run = promisify(execFile)(program, [...args, script], { cwd: folder, env, timeout: PATIENCE });
    const { stdout, stderr } = await run.catch((error: { stdout: string; stderr: string }) => error);
    expect(stdout + stderr, expected);
    console.log(`tried with ${name}`);
  }
}

/** The launcher that stands for kube-apiserver answers, as envtest waits for it. */
async function envtestStarts(assets: string, folder: string): Promise<void> {
  const port = 20_000 + (process.pid % 20_000);
  const args = [`--secure-port=${port}`, "--bind-address=127.0.0.1", `--cert-dir=${folder}`];
  const child = spawn(join(assets, "kube-apiserver"), args, { stdio: ["ignore", "inherit", "inherit"] });
  let ended = false;
  child.once("exit", () => {
    ended = true;
  });
  try {
    const deadline = performance.now() + PATIENCE;
    while (!(await answers(port))) {
      if (ended || performance.now() > deadline) throw new Error("what `konverge envtest` wrote does not start");
      await sleep(50);
    }
  } finally {
    child.kill("SIGTERM");
  }
}

async function answers(port: number): Promise<boolean> {
  const { get } = await import("node:https");
  return new Promise((done) => {
    get({ port, host: "127.0.0.1", path: "/livez", rejectUnauthorized: false }, (response) => {
      response.resume();
      done(response.statusCode === 200);
    }).on("error", () => done(false));
  });
}

function said({ stdout, stderr, failed }: { stdout: string; stderr: string; failed: boolean }, what: string): string {
  if (failed) throw new Error(`${what} failed:\n${stdout}${stderr}`);
  return stdout;
}

function expect(text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`"${part}" is missing in:\n${text}`);
}
