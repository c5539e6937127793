import { spawn } from "node:child_process";
import { type Clock, parseJson } from "@konverge/core";
import type { ExecPlugin } from "../config/connection-config.ts";
import { TransportError } from "../errors.ts";
import { bearer, type Credential, type CredentialSource } from "./credential-source.ts";

/** What a plugin can get to know about the cluster. */
export interface PluginCluster {
  server: string;
  "tls-server-name"?: string;
  "insecure-skip-tls-verify"?: boolean;
  "certificate-authority-data"?: string;
  "proxy-url"?: string;
  config?: unknown;
}

interface ExecCredential {
  apiVersion?: string;
  kind?: string;
  status?: {
    token?: string;
    clientCertificateData?: string;
    clientKeyData?: string;
    expirationTimestamp?: string;
  };
}

/**
 * Credentials from a program. It is run when there are none yet, when they have expired and when the server refuses
 * them; callers that need them meanwhile wait for the same run.
 */
export class ExecCredentialSource implements CredentialSource {
  readonly #clock: Clock;
  readonly #plugin: ExecPlugin;
  readonly #cluster: PluginCluster;
  #current: { credential: Credential; expires: number } | undefined;
  #running: Promise<Credential> | undefined;

  constructor(clock: Clock, plugin: ExecPlugin, cluster: PluginCluster) {
    this.#clock = clock;
    this.#plugin = plugin;
    this.#cluster = cluster;
  }

  async get(): Promise<Credential> {
    if (this.#current && this.#clock.now() < this.#current.expires) return this.#current.credential;
    return this.#run();
  }

  async renew(rejected: Credential): Promise<Credential | undefined> {
    // Another request may have renewed it while this one was in progress.
    if (this.#current && !same(this.#current.credential, rejected)) return this.#current.credential;
    const fresh = await this.#run();
    return same(fresh, rejected) ? undefined : fresh;
  }

  #run(): Promise<Credential> {
    this.#running ??= this.#ask().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #ask(): Promise<Credential> {
    const { apiVersion, interactiveMode, provideClusterInfo } = this.#plugin;
    const terminal = process.stdin.isTTY === true;
    if (interactiveMode === "Always" && !terminal) {
      throw this.#failure("it needs a terminal (interactiveMode: Always), and there is none");
    }
    const interactive = interactiveMode !== "Never" && terminal;
    const info = {
      apiVersion,
      kind: "ExecCredential",
      spec: { interactive, ...(provideClusterInfo && { cluster: this.#cluster }) },
    };
    const output = await this.#spawn(JSON.stringify(info), interactive);
    let answer: ExecCredential;
    try {
      answer = parseJson(output) as ExecCredential;
    } catch (cause) {
      throw this.#failure("its output is not JSON", cause);
    }
    if (answer?.kind !== "ExecCredential" || answer.apiVersion !== apiVersion) {
      throw this.#failure(`expected an ExecCredential of ${apiVersion}, got ${answer?.kind} of ${answer?.apiVersion}`);
    }
    const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = answer.status ?? {};
    if (!token && !(cert && key)) throw this.#failure("its output has neither a token nor a certificate with its key");
    const expires = expirationTimestamp ? Date.parse(expirationTimestamp) : Number.POSITIVE_INFINITY;
    if (Number.isNaN(expires)) throw this.#failure(`its expirationTimestamp is not a time: ${expirationTimestamp}`);
    const credential = { ...(token && { authorization: bearer(token) }), ...(cert && key && { cert, key }) };
    this.#current = { credential, expires };
    return credential;
  }

  #spawn(info: string, interactive: boolean): Promise<string> {
    const { command, args, env } = this.#plugin;
    return new Promise((resolve, reject) => {
      const child = spawn(command, args, {
        env: {
          ...process.env,
          ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
          KUBERNETES_EXEC_INFO: info,
        },
        stdio: [interactive ? "inherit" : "ignore", "pipe", "inherit"],
      });
      let output = "";
      child.stdout!.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
      child.once("error", (cause: NodeJS.ErrnoException) => {
        const why = cause.code === "ENOENT" ? "there is no such program" : cause.message;
        reject(this.#failure(why, cause));
      });
      child.once("close", (code, signal) => {
        if (code === 0) resolve(output);
        else reject(this.#failure(signal ? `it was terminated by ${signal}` : `it exited with code ${code}`));
      });
    });
  }

  #failure(why: string, cause?: unknown): TransportError {
    const { command, installHint } = this.#plugin;
    const message = `credentials from the plugin ${command}: ${why}${installHint ? `\n${installHint}` : ""}`;
    return new TransportError("credentials", message, { cause, unknownOutcome: false });
  }
}

function same(a: Credential, b: Credential): boolean {
  return a.authorization === b.authorization && a.cert === b.cert && a.key === b.key;
}
