import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseYaml } from "@konverge/schema";
import type { Report } from "./observe.ts";
import type { Endpoint } from "./send.ts";

const COMMAND = new URL("../../packages/cli/bin/konverge.js", import.meta.url).pathname;
const OBSERVE = new URL("./observe.ts", import.meta.url).href;
const NAME = "fuzz";

/** `konverge up` in a separate process, with a separate home, temporary folder and data folder. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #folder: string;
  #waiting: { type: Report["type"]; resolve(report: Report | undefined): void }[] = [];
  /** Uncaught errors. */
  readonly uncaught: string[] = [];
  /** Its standard error, which includes internal errors. */
  errorOutput = "";
  exit: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    for (const one of ["home", "tmp", "data", "cwd"]) mkdirSync(join(folder, one), { recursive: true });
    const args = [
      "up",
      "--name",
      NAME,
      "--data",
      join(folder, "data"),
      "--kubeconfig",
      join(folder, "data", "kubeconfig"),
    ];
    this.#child = spawn(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", "--expose-gc", "--import", OBSERVE, COMMAND, ...args],
      {
        cwd: join(folder, "cwd"),
        stdio: ["ignore", "ignore", "pipe", "ipc"],
        env: {
          PATH: process.env.PATH,
          HOME: join(folder, "home"),
          TMPDIR: join(folder, "tmp"),
          FUZZ_FOLDERS: JSON.stringify([join(folder, "data"), join(folder, "home")]),
          ...(process.env.NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
        },
      },
    );
    this.#child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.errorOutput += this.errorOutput.length < 1_000_000 ? text : "";
    });
    const kill = () => this.#child.kill("SIGKILL");
    process.once("exit", kill);
    this.#child.on("exit", (code, signal) => {
      process.off("exit", kill);
      this.exit = signal ?? `code ${code}`;
      for (const { resolve } of this.#waiting) resolve(undefined);
    });
    this.#child.on("message", (message: Report | "ready") => this.#hear(message));
  }

  /** Waits until it serves. */
  async ready(): Promise<Endpoint> {
    await new Promise<void>((resolve, reject) => {
      this.#child.on("message", (message) => message === "ready" && resolve());
      this.#child.once("exit", () => reject(new Error(`the server did not start: ${this.errorOutput}`)));
    });
    return endpointIn(readFileSync(join(this.#folder, "data", "kubeconfig"), "utf8"));
  }

  /** Requests a report; undefined if the process has exited. */
  ask<T extends Report["type"]>(question: string, type: T): Promise<Extract<Report, { type: T }> | undefined> {
    return new Promise((resolve) => {
      if (this.exit !== undefined || !this.#child.connected) return resolve(undefined);
      this.#waiting.push({ type, resolve: (report) => resolve(report as Extract<Report, { type: T }>) });
      this.#child.send(question, (error) => error && resolve(undefined));
    });
  }

  /** Ends it as its user would. Resolves with how it ended; undefined if it had to be killed. */
  async stop(patience: number): Promise<string | undefined> {
    if (this.exit !== undefined) return this.exit;
    const ended = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    this.#child.kill("SIGTERM");
    let isKilled = false;
    const timer = setTimeout(() => {
      isKilled = true;
      this.#child.kill("SIGKILL");
    }, patience);
    await ended;
    clearTimeout(timer);
    return isKilled ? undefined : this.exit;
  }

  #hear(message: Report | "ready"): void {
    if (message === "ready") return;
    if (message.type === "uncaught") this.uncaught.push(message.text);
    else {
      const at = this.#waiting.findIndex(({ type }) => type === message.type);
      if (at >= 0) this.#waiting.splice(at, 1)[0]!.resolve(message);
    }
  }
}

function endpointIn(kubeconfig: string): Endpoint {
  const [config] = parseYaml(kubeconfig) as [
    {
      clusters: { cluster: { server: string; "certificate-authority-data": string } }[];
      users: { user: { "client-certificate-data": string; "client-key-data": string } }[];
    },
  ];
  const { cluster } = config.clusters[0]!;
  const { user } = config.users[0]!;
  const decoded = (text: string) => Buffer.from(text, "base64").toString();
  const { hostname, port } = new URL(cluster.server);
  return {
    url: cluster.server,
    host: hostname,
    port: Number(port),
    ca: decoded(cluster["certificate-authority-data"]),
    cert: decoded(user["client-certificate-data"]),
    key: decoded(user["client-key-data"]),
  };
}
