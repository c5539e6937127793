import { type ChildProcess, spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { type Authority, createAuthority } from "@konverge/apiserver";
import { realClock } from "@konverge/core";
import { Pool } from "undici";
import { stagePrograms } from "../../scripts/release/stage.ts";
import { startRealCluster } from "../../tools/real/index.ts";

/** A server that runs in separate processes. */
export interface Contestant extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly tls: { ca: string; cert: string; key: string };
  /** From the moment it was asked for until it had said that it is ready. */
  readonly startMs: number;
  /** What its processes had used of the processor by then. */
  readonly startCpuMs: number;
  /** What its processes have used of the processor so far, in milliseconds. */
  cpuMs(): number;
  /** What its processes have in memory. */
  resident(): number;
  /** What the API server holds once its garbage is collected. */
  held(): Promise<number>;
  /** What it has on disk. */
  onDisk(): number;
}

/** Compiled code is kept from one start to the next, as the konverge command keeps it. */
const compiled = join(tmpdir(), "konverge-bench-compiled");
/** The server's process, bundled as what `konverge envtest` starts. */
const PROGRAM = "dist/bench-apiserver";
let staged: Promise<void> | undefined;

export async function embedded(storage: "memory" | "SQLite"): Promise<Contestant> {
  const folder = mkdtempSync(join(tmpdir(), "konverge-bench-"));
  const authority = prepared(folder);
  const file = storage === "SQLite" ? join(folder, "data", "state.db") : undefined;
  mkdirSync(join(folder, "data"));
  staged ??= stagePrograms(["bench/apiserver/server.ts"], PROGRAM);
  await staged;
  const started = performance.now();
  const program = join(PROGRAM, "dist", "server.js");
  const flags = ["--expose-gc", "--disable-warning=ExperimentalWarning"];
  const child = spawn(process.execPath, [...flags, program, folder, ...(file ? [file] : [])], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE: compiled },
  });
  const lines = createInterface(child.stdout!);
  const port = await nextLine(lines, child);
  const tls = { ca: authority.cert, ...authority.client("bench", ["system:masters"]) };
  const url = `https://127.0.0.1:${port}`;
  await answered(url, tls);
  const startMs = performance.now() - started;
  const pids = [child.pid!];
  return {
    name: `embedded, ${storage}`,
    url,
    tls,
    startMs,
    startCpuMs: cpuOf(pids),
    cpuMs: () => cpuOf(pids),
    resident: () => residentOf(pids),
    held: async () => {
      const line = nextLine(lines, child);
      child.stdin!.write("\n");
      return Number(await line);
    },
    onDisk: () => sizeOf(join(folder, "data")),
    async [Symbol.asyncDispose]() {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function real(): Promise<Contestant> {
  const started = performance.now();
  const cluster = await startRealCluster({ extraApiServerFlags: ["--profiling=true"] });
  const startMs = performance.now() - started;
  const tls = { ca: cluster.ca, cert: cluster.clientCert, key: cluster.clientKey };
  const pids = pidsUnder(cluster.folder);
  return {
    name: "etcd + kube-apiserver",
    url: cluster.url,
    tls,
    startMs,
    startCpuMs: cpuOf(pids),
    cpuMs: () => cpuOf(pids),
    resident: () => residentOf(pids),
    async held() {
      const pool = new Pool(cluster.url, { connect: tls });
      let held = 0;
      // What a first collection leaves of the garbage, a second finds.
      for (let i = 0; i < 2; i++) {
        const { body } = await pool.request({ method: "GET", path: "/debug/pprof/heap?gc=1&debug=1" });
        held = Number(/^# HeapAlloc = ([0-9]+)$/m.exec(await body.text())![1]);
      }
      await pool.destroy();
      return held;
    },
    onDisk: () => sizeOf(join(cluster.folder, "etcd")),
    [Symbol.asyncDispose]: () => cluster.stop(),
  };
}

function prepared(folder: string): Authority {
  const authority = createAuthority(realClock());
  writeFileSync(join(folder, "ca.crt"), authority.cert);
  writeFileSync(join(folder, "ca.key"), authority.key, { mode: 0o600 });
  return authority;
}

async function answered(url: string, tls: Contestant["tls"]): Promise<void> {
  const pool = new Pool(url, { connect: tls });
  const { statusCode, body } = await pool.request({ method: "GET", path: "/readyz" });
  if (statusCode !== 200) throw new Error(`/readyz: ${await body.text()}`);
  await body.dump();
  await pool.destroy();
}

function nextLine(lines: Interface, child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    lines.once("line", resolve);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
}

/** The processes that work in a folder (Linux). */
function pidsUnder(folder: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === folder;
      } catch {
        return false;
      }
    })
    .map(Number);
}

function cpuOf(pids: readonly number[]): number {
  return sum(pids, (pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  });
}

function residentOf(pids: readonly number[]): number {
  return sum(pids, (pid) => Number(/VmRSS:\s+([0-9]+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1024);
}

function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return sum(files, (entry) => statSync(join(entry.parentPath, entry.name)).blocks * 512);
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
