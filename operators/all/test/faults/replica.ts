import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FailingNetwork } from "./failing-network.ts";

const MAIN = fileURLToPath(new URL("../../../../packages/cli/src/main.ts", import.meta.url));
const SKEW = new URL("./skewed-clock.ts", import.meta.url).href;

export interface ReplicaOptions {
  readonly operator: string;
  /** Unique among the replicas of the operator. */
  readonly number: number;
  /** Milliseconds by which its time of day is off. */
  readonly clockSkew: number;
  readonly network: FailingNetwork;
  /** Where its kubeconfig and its log are. */
  readonly folder: string;
}

/** One process of an operator, under the network that it has. */
export class Replica {
  readonly network: FailingNetwork;
  readonly #options: ReplicaOptions;
  readonly #path: string;
  #process: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: ReplicaOptions) {
    this.network = options.network;
    this.#options = options;
    this.#path = join(options.folder, `${options.operator}-${options.number}`);
    writeFileSync(`${this.#path}.kubeconfig`, JSON.stringify(kubeconfigFor(options.network.url)));
  }

  start(): void {
    const log = openSync(`${this.#path}.log`, "a");
    const ports = ["--metrics-bind-address", "0", "--health-probe-bind-address", "0", "--webhooks", "off"];
    const which = ["--operators", this.#options.operator, "--kubeconfig", `${this.#path}.kubeconfig`];
    const child = spawn(process.execPath, ["--import", SKEW, MAIN, "run", "--leader-elect", ...which, ...ports], {
      stdio: ["ignore", log, log],
      env: { ...process.env, KONVERGE_CLOCK_SKEW: String(this.#options.clockSkew) },
    });
    closeSync(log);
    this.#process = child;
    this.#ended = new Promise((resolve) => child.once("close", resolve));
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.#ended;
  }

  /** Resolves when the process has ended. */
  get ended(): Promise<unknown> {
    return this.#ended;
  }

  /** What it has printed. */
  get log(): string {
    return readFileSync(`${this.#path}.log`, "utf8");
  }
}

function kubeconfigFor(server: string): object {
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "cluster", cluster: { server } }],
    users: [{ name: "user", user: {} }],
    contexts: [{ name: "context", context: { cluster: "cluster", user: "user", namespace: "default" } }],
    "current-context": "context",
  };
}
