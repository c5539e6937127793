import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect, loadConfig } from "@konverge/client";
import { realClock, sleep } from "@konverge/core";
import { CustomResourceDefinition, Namespace } from "@konverge/kinds";
import { type RealCluster, startRealCluster } from "@konverge/real";
import { type Controller, type Manager, type ManagerOptions, run, silentLog } from "@konverge/runtime";
import { defineKind, type ObjectOf, z } from "@konverge/schema";
import { type AuditedRequest, readAuditLog } from "./audit-log.ts";

export const Widget = defineKind({
  group: "example.com",
  kind: "Widget",
  versions: {
    v1: {
      spec: z.object({ text: z.string().default("") }),
      status: z.object({ text: z.string().optional() }),
    },
  },
});
export type Widget = ObjectOf<typeof Widget>;

const clock = realClock();

/** Asks again until it is so; fails after a while. */
export async function until(
  what: string,
  condition: () => Promise<boolean> | boolean,
  ms = 90_000,
  every = 50,
): Promise<void> {
  const deadline = clock.monotonic() + ms;
  while (!(await condition())) {
    if (clock.monotonic() > deadline) assert.fail(`it never came true that ${what}`);
    await sleep(clock, every);
  }
}

export const pause = (ms: number) => sleep(clock, ms);

/** Calls `work` for 0 … count-1, twenty at a time. */
export async function times(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(20, count) }, worker));
}

/** An operator at work, and what the server has seen of it. */
export interface RunningOperator extends AsyncDisposable {
  readonly manager: Manager;
  requests(): AuditedRequest[];
  writes(): AuditedRequest[];
}

/** A real control plane with Widgets, its user, and operators whose requests the audit log distinguishes. */
export class RealOperators {
  readonly cluster: RealCluster;
  readonly user: Client;
  readonly #folder: string;
  #count = 0;

  static async start(kubernetes?: string): Promise<RealOperators> {
    const folder = mkdtempSync(join(tmpdir(), "konverge-runtime-"));
    const auditLog = join(folder, "audit.log");
    const cluster = await startRealCluster({ auditLog, controllers: true, ...(kubernetes && { kubernetes }) });
    const user = await connect({ kubeconfig: cluster.kubeconfig, userAgent: "user" });
    await user.create(CustomResourceDefinition, Widget.crd() as never);
    const isServed = () =>
      user.list(Widget).then(
        () => true,
        () => false,
      );
    await until("the CRD is served", isServed);
    return new RealOperators(cluster, user, folder);
  }

  constructor(cluster: RealCluster, user: Client, folder: string) {
    this.cluster = cluster;
    this.user = user;
    this.#folder = folder;
  }

  async stop(): Promise<void> {
    await this.user.close();
    await this.cluster.stop();
    rmSync(this.#folder, { recursive: true });
  }

  async namespace(name: string): Promise<void> {
    await this.user.create(Namespace, { metadata: { name } });
  }

  widget(namespace: string, name: string, text = ""): Promise<Widget> {
    return this.user.create(Widget.new({ metadata: { name, namespace }, spec: { text } }));
  }

  /** `port`: reach the server by way of a proxy. */
  async operator(
    controllers: Controller | Controller[],
    { port, ...options }: Partial<ManagerOptions> & { port?: number } = {},
  ): Promise<RunningOperator> {
    const userAgent = `operator-${++this.#count}`;
    const config = await loadConfig({ kubeconfig: this.cluster.kubeconfig });
    if (port) config.server = config.server.replace(/:\d+$/, `:${port}`);
    const client = await connect({ config, userAgent });
    const manager = await run(controllers, { client, log: silentLog, identity: userAgent, ...options });
    const requests = () =>
      readAuditLog(join(this.#folder, "audit.log")).filter((request) => request.userAgent === userAgent);
    return {
      manager,
      requests,
      writes: () => requests().filter(({ verb }) => !["get", "list", "watch"].includes(verb)),
      async [Symbol.asyncDispose]() {
        await manager.stop();
        await client.close();
      },
    };
  }

  /** Waits until an operator has made no request for a while. */
  async quiet({ requests }: Pick<RunningOperator, "requests">, ms = 1500, every = 50): Promise<void> {
    let count = -1;
    let since = clock.monotonic();
    await until(
      "the operator is quiet",
      () => {
        const now = requests().length;
        if (now !== count) since = clock.monotonic();
        count = now;
        return clock.monotonic() - since > ms;
      },
      180_000,
      every,
    );
  }
}
