// What a process weighs that imports a client and lists one thing: Konverge's client, @kubernetes/client-node and client-go,
// in one run, against one real kube-apiserver.
//
//     node bench/client-memory/run.ts
//
// Konverge's client is measured as it is published: JavaScript. Resident memory is what Linux says of the process once its
// list has arrived and it waits; the median of several processes, all of which ran alternately.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { findControlPlane, startRealCluster } from "../../tools/real/index.ts";

const PROCESSES = 7;
const CLIENT_NODE = "2.0.1";

const here = import.meta.dirname;
const repository = join(here, "..", "..");
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "konverge", "bench");

const plane = findControlPlane();
if (!plane.available) {
  console.log(`skipped: ${plane.why}`);
  process.exit(0);
}

interface Contestant {
  name: string;
  command: string[];
}
const node = [process.execPath, "--disable-warning=ExperimentalWarning"];
const contestants: Contestant[] = [
  { name: "Node alone", command: [...node, join(here, "node-alone.mjs")] },
  { name: "konverge", command: [...node, konverge()] },
  { name: `@kubernetes/client-node ${CLIENT_NODE}`, command: [...node, clientNode()] },
  { name: "client-go 0.36", command: [clientGo()] },
];

await using cluster = await startRealCluster();
const samples = new Map<string, { resident: number; peak: number; ready: number }[]>();
for (let round = 0; round < PROCESSES; round++) {
  for (const contestant of contestants) {
    const list = samples.get(contestant.name) ?? [];
    samples.set(contestant.name, [...list, await weigh(contestant, cluster.kubeconfig)]);
  }
}
const median = (name: string, field: "resident" | "peak" | "ready") =>
  samples
    .get(name)!
    .map((sample) => sample[field])
    .sort((a, b) => a - b)[PROCESSES >> 1]!;
const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
console.log(
  "| client | resident MiB | peak MiB | without Node MiB | ready after ms | resident / konverge |\n|---|---|---|---|---|---|",
);
const bare = median("Node alone", "resident");
const own = median("konverge", "resident");
for (const { name, command } of contestants) {
  const resident = median(name, "resident");
  const added = command[0] === process.execPath ? mebibytes(resident - bare) : "";
  const cells = [name, mebibytes(resident), mebibytes(median(name, "peak")), added, median(name, "ready").toFixed(0)];
  console.log(`| ${cells.join(" | ")} | ${(resident / own).toFixed(2)} |`);
}

/** Starts a process, waits for its list and reads its memory. */
async function weigh({ name, command }: Contestant, kubeconfig: string) {
  const started = performance.now();
  const child = spawn(command[0]!, command.slice(1), {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, KUBECONFIG: kubeconfig },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`${name} ended with exit code ${code}`)));
  });
  const ready = performance.now() - started;
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  const field = (key: string) => Number(new RegExp(`${key}:\\s+([0-9]+) kB`).exec(status)![1]) * 1024;
  const sample = { resident: field("VmRSS"), peak: field("VmHWM"), ready };
  child.kill("SIGKILL");
  await ended;
  return sample;
}

/** The client and its imports, as JavaScript in a separate folder. */
function konverge(): string {
  const folder = join(cache, "konverge");
  rmSync(folder, { recursive: true, force: true });
  for (const name of ["core", "client"]) {
    const source = join(repository, "packages", name, "src");
    const target = join(folder, "node_modules", "@konverge", name);
    for (const file of globSync("**/*.ts", { cwd: source, exclude: (path) => /\.(test|d)\.ts$/.test(path) })) {
      const code = stripTypeScriptTypes(readFileSync(join(source, file), "utf8"));
      const path = join(target, file.replace(/\.ts$/, ".js"));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, code.replace(/(from|import\()(\s*"\.[^"]*)\.ts"/g, '$1$2.js"'));
    }
    writeFileSync(join(target, "package.json"), JSON.stringify({ type: "module", exports: "./index.js" }));
  }
  for (const dependency of ["undici", "ws", "yaml"]) {
    symlinkSync(join(repository, "node_modules", dependency), join(folder, "node_modules", dependency));
  }
  return copied("konverge-client.mjs", folder);
}

function clientNode(): string {
  const folder = join(cache, `client-node-${CLIENT_NODE}`);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, "node_modules", "@kubernetes", "client-node", "package.json"))) {
    writeFileSync(join(folder, "package.json"), "{}");
    execFileSync("npm", ["install", "--no-audit", "--no-fund", `@kubernetes/client-node@${CLIENT_NODE}`], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  return copied("client-node.mjs", folder);
}

function clientGo(): string {
  const program = join(cache, "client-go-list");
  mkdirSync(cache, { recursive: true });
  execFileSync("go", ["build", "-ldflags=-s -w", "-o", program, "."], {
    cwd: join(here, "client-go"),
    env: { ...process.env, CGO_ENABLED: "0" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return program;
}

function copied(program: string, folder: string): string {
  cpSync(join(here, program), join(folder, program));
  return join(folder, program);
}
