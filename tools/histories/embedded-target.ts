import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseYaml } from "@konverge/schema";
import type { Retention } from "./history.ts";
import type { Target } from "./target.ts";

const COMMAND = new URL("../../packages/cli/bin/konverge.js", import.meta.url).pathname;
/** So that history, which is kept for five minutes, expires within a run. */
const TIME_SCALE = 10;
/** Files may be this large while the disk is full: every write behind it fails. */
const FULL_BYTES = 4096;
/** An error that a full disk explains. */
const OF_FULL_DISK = /disk is full|disk I\/O error/;

/** `konverge up` with durable storage, in a separate process. */
export class EmbeddedTarget implements Target {
  readonly #folder: string;
  #child: ChildProcess | undefined;
  #errors = "";
  port = 0;
  readonly retention: Retention = {
    ms: (5 * 60_000) / TIME_SCALE,
    changes: 100_000,
    forgottenByRestart: Number.NEGATIVE_INFINITY,
  };
  #access: Target["access"] | undefined;
  fillDisk?: (isFull: boolean) => void;

  private constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "konverge-histories-"));
    for (const one of ["home", "tmp", "data"]) mkdirSync(join(this.#folder, one));
  }

  static async start(): Promise<EmbeddedTarget> {
    const target = new EmbeddedTarget();
    await target.#start();
    if (canLimitFiles()) target.fillDisk = (isFull) => target.#limitFiles(isFull);
    return target;
  }

  get access(): Target["access"] {
    return this.#access!;
  }

  get problems(): readonly string[] {
    // An error begins a line; its stack and its cause follow.
    const entries = this.#errors.split(/\n(?=[A-Z(])/);
    return entries
      .filter((entry) => entry.trim() !== "" && !OF_FULL_DISK.test(entry))
      .map((entry) => `logged: ${entry}`);
  }

  pids(): readonly number[] {
    return this.#child?.pid === undefined ? [] : [this.#child.pid];
  }

  async restart(): Promise<void> {
    await this.#kill();
    await this.#start();
  }

  async close(): Promise<void> {
    await this.#kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const data = join(this.#folder, "data");
    const kubeconfig = join(data, "kubeconfig");
    const args = [
      "up",
      "--name",
      "histories",
      "--data",
      data,
      "--kubeconfig",
      kubeconfig,
      "--nodes",
      "1",
      "--gpus",
      "none",
    ];
    const child = spawn(
      process.execPath,
      [
        "--disable-warning=ExperimentalWarning",
        COMMAND,
        ...args,
        ...["-o", "json", "--until-stdin-closes"],
        ...["--time-scale", String(TIME_SCALE)],
      ],
      {
        cwd: this.#folder,
        stdio: ["pipe", "pipe", "pipe"],
        env: {
          PATH: process.env["PATH"],
          HOME: join(this.#folder, "home"),
          TMPDIR: join(this.#folder, "tmp"),
          ...(process.env["NODE_COMPILE_CACHE"] && { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }),
        },
      },
    );
    this.#child = child;
    child.stdin!.on("error", () => {});
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      if (this.#errors.length < 1_000_000) this.#errors += text;
    });
    const line = await new Promise<string>((resolve, reject) => {
      createInterface(child.stdout!).once("line", resolve);
      child.once("exit", (code) =>
        reject(new Error(`the server did not start (${code}): ${this.#errors.slice(-3000)}`)),
      );
    });
    this.port = Number(new URL((JSON.parse(line) as { url: string }).url).port);
    this.#access ??= accessIn(readFileSync(kubeconfig, "utf8"));
  }

  async #kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGKILL");
    await exited;
  }

  #limitFiles(isFull: boolean): void {
    const pid = this.#child?.pid;
    if (pid !== undefined)
      execFileSync("prlimit", ["--pid", String(pid), `--fsize=${isFull ? FULL_BYTES : "unlimited"}:unlimited`]);
  }
}

/** Without the tool, or on another system, no disk is full. */
function canLimitFiles(): boolean {
  try {
    execFileSync("prlimit", ["--fsize"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function accessIn(kubeconfig: string): Target["access"] {
  const [config] = parseYaml(kubeconfig) as [
    {
      clusters: { cluster: { "certificate-authority-data": string } }[];
      users: { user: { "client-certificate-data": string; "client-key-data": string } }[];
    },
  ];
  const { user } = config.users[0]!;
  const decoded = (text: string) => Buffer.from(text, "base64").toString();
  return {
    ca: decoded(config.clusters[0]!.cluster["certificate-authority-data"]),
    cert: decoded(user["client-certificate-data"]),
    key: decoded(user["client-key-data"]),
  };
}
