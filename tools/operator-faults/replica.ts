import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FailingNetwork } from "./failing-network.ts";

const MAIN = fileURLToPath(new URL("../../packages/cli/src/main.ts", import.meta.url));
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

/** As a kubelet waits before it starts a container again, but not longer. */
const RESTART_DELAY = 3_000;

/** One process of an operator, under the network that it has. It is started again whenever it ends, as a container is. */
export class Replica implements AsyncDisposable {
  readonly network: FailingNetwork;
  readonly #options: ReplicaOptions;
  readonly #path: string;
  #process: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #isStopped = false;
  /** Each time that it exited without being stopped: its last output. */
  readonly exits: string[] = [];
  #isSignaled = false;

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
    this.#isSignaled = false;
    this.#ended = new Promise<number | null>((resolve) => child.once("close", resolve)).then((code) => {
      if (this.#isStopped) return;
      if (!this.#isSignaled) this.exits.push(`${basename(this.#path)} ended with ${code}: ${this.#lastLines()}`);
      setTimeout(() => this.#isStopped || this.start(), RESTART_DELAY);
    });
  }

  /** Stops it, lets it continue, asks it to end, or kills it. */
  signal(signal: NodeJS.Signals): void {
    this.#isSignaled = signal !== "SIGCONT";
    this.#process?.kill(signal);
  }

  /** Ends it for good. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.signal("SIGKILL");
    await this.#ended;
    await this.network[Symbol.asyncDispose]();
  }

  #lastLines(): string {
    return readFileSync(`${this.#path}.log`, "utf8").trimEnd().split("\n").slice(-3).join("\n").slice(-1_000);
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
