import { join } from "node:path";
import type { Client } from "@konverge/client";
import { type FollowedCluster, followCluster } from "@konverge/console";
import { type ClusterChoice, connectToCluster } from "../cluster-connection.ts";
import { UsageError } from "../usage-error.ts";
import { readOnlyTransport } from "./read-only.ts";

/** Where the kubeconfig of a cluster is written that the server starts. */
const KUBECONFIG = join(".konverge", "mcp-kubeconfig");

/** A cluster that tools work on. */
export interface WorkingCluster {
  readonly client: Client;
  readonly followed: FollowedCluster;
}

/** What an embedded cluster is started with. */
export interface StartedShape {
  readonly name: string;
  readonly nodes: number;
  readonly gpus: string;
}

/**
 * The cluster of the tools: that of the kubeconfig, or an embedded one that a tool has started, which ends with this process. It is
 * followed from the first tool that asks for it.
 */
export class Connection implements AsyncDisposable {
  readonly #choice: ClusterChoice;
  readonly #isReadOnly: boolean;
  #working: Promise<WorkingCluster> | undefined;
  #started: { kubeconfig: string; stop(): Promise<void> } | undefined;

  constructor(choice: ClusterChoice, { readOnly }: { readOnly: boolean }) {
    this.#choice = choice;
    this.#isReadOnly = readOnly;
  }

  get(): Promise<WorkingCluster> {
    this.#working ??= this.#connect();
    return this.#working;
  }

  /** Starts an embedded cluster, which the tools work on from now on. Returns its kubeconfig. */
  async start(shape: StartedShape): Promise<string> {
    if (this.#started) throw new UsageError("a cluster that this server started is running: stop it first");
    const { up } = await import("../up/up.ts");
    const options = { port: 0, host: "127.0.0.1", timeScale: 1, operators: "none", kubeconfig: KUBECONFIG };
    const { noted, stop } = await up({ ...shape, ...options });
    await this.#leave();
    this.#started = { kubeconfig: noted.kubeconfig, stop };
    return noted.kubeconfig;
  }

  /** Stops the cluster that was started; the tools work on that of the kubeconfig again. */
  async stop(): Promise<void> {
    if (!this.#started) throw new UsageError("this server has started no cluster");
    const { stop } = this.#started;
    this.#started = undefined;
    await this.#leave();
    await stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave();
    await this.#started?.stop();
  }

  async #connect(): Promise<WorkingCluster> {
    try {
      const choice = this.#started ? { kubeconfig: this.#started.kubeconfig } : this.#choice;
      const client = await connectToCluster(choice, this.#isReadOnly ? { around: readOnlyTransport } : {});
      return { client, followed: await followCluster(client) };
    } catch (error) {
      // The next tool tries again.
      this.#working = undefined;
      throw error;
    }
  }

  async #leave(): Promise<void> {
    const working = await this.#working?.catch(() => undefined);
    this.#working = undefined;
    working?.followed.stop();
    await working?.client.close();
  }
}
