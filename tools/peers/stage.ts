import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@konverge/apiserver";
import { type Client, connect } from "@konverge/client";
import { type Cluster, callWebhook, startCluster } from "@konverge/cluster";
import { realClock, sleep } from "@konverge/core";
import { Namespace, ServiceAccount } from "@konverge/kinds";
import { startRealCluster } from "@konverge/real";
import { RunningProgram } from "./program.ts";

/** A cluster on a port, and what a test needs to run a peer's program on it. */
export interface Stage extends AsyncDisposable {
  readonly server: "embedded" | "real";
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Acts as the administrator. */
  readonly client: Client;
  /** What the embedded cluster lets one set in code; the real one has none. */
  readonly cluster?: Cluster;
  /** For files of the test; deleted with the environment. */
  readonly folder: string;
  /** A new namespace in which pods can be created. */
  namespace(name: string): Promise<string>;
  /** Runs a program that finds the cluster by KUBECONFIG. */
  run(command: string, args: readonly string[], env?: Record<string, string>): RunningProgram;
  /** Waits until something is true; fails, with what the programs said, when it never is. */
  until(what: string, holds: () => Promise<boolean> | boolean): Promise<void>;
}

/** Milliseconds after which something that is not true never will be, on a busy machine. */
const PATIENCE = 90_000;

/** The embedded cluster behind TLS. */
export async function embeddedStage(): Promise<Stage> {
  const authority = createAuthority(realClock());
  const cluster = await startCluster({
    rootCertificate: authority.cert,
    server: { callWebhook, access: { serviceAccounts: { signingKey: authority.key } } },
  });
  const faults: string[] = [];
  const port = await cluster.listen({
    authority,
    onError: (error, { method, path }) => faults.push(`${method} ${path}: ${error}`),
  });
  return stage("embedded", port.kubeconfig(), cluster, async () => {
    await port.close();
    await cluster.stop();
    assert.deepEqual(faults, [], "errors of the server itself");
  });
}

/** The real control plane with simulated nodes. */
export async function realStage(): Promise<Stage> {
  const real = await startRealCluster({ controllers: true, scheduler: true, kwok: { nodes: 2, gpus: 0 } });
  return stage("real", readFileSync(real.kubeconfig, "utf8"), undefined, () => real.stop());
}

async function stage(
  server: Stage["server"],
  kubeconfigText: string,
  cluster: Cluster | undefined,
  stop: () => Promise<void>,
): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "konverge-peers-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText, { mode: 0o600 });
  mkdirSync(join(folder, "home"));
  const client = await connect({ kubeconfig });
  const programs: RunningProgram[] = [];
  const environment = { PATH: process.env["PATH"] ?? "", HOME: join(folder, "home"), KUBECONFIG: kubeconfig };
  const until: Stage["until"] = async (what, holds) => {
    const end = client.clock.monotonic() + PATIENCE;
    while (!(await holds())) {
      if (client.clock.monotonic() > end) {
        const said = programs.map((program) => program.output.slice(-4000)).join("\n--\n");
        assert.fail(`it never came true that ${what}; the programs said:\n${said}`);
      }
      await sleep(client.clock, 50);
    }
  };
  return {
    server,
    kubeconfig,
    client,
    ...(cluster && { cluster }),
    folder,
    async namespace(name) {
      await client.create(Namespace, { metadata: { name } });
      const account = () => client.get(ServiceAccount, `${name}/default`).catch(() => undefined);
      await until(`${name} has a service account`, async () => (await account()) !== undefined);
      return name;
    },
    run(command, args, env = {}) {
      const program = new RunningProgram(command, args, { env: { ...environment, ...env }, cwd: folder });
      programs.push(program);
      return program;
    },
    until,
    async [Symbol.asyncDispose]() {
      for (const program of programs) await program.kill();
      await client.close();
      await stop().finally(() => rmSync(folder, { recursive: true, force: true }));
    },
  };
}
