import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import { type Cluster, type ClusterOptions, type ClusterPort, startCluster } from "@konverge/cluster";
import { type Clock, realClock, sleep } from "@konverge/core";

/** An embedded cluster on a port, and a kubeconfig for it, as commands meet them. */
export interface CommandStage extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: Client;
  readonly port: ClusterPort;
  readonly folder: string;
  readonly kubeconfig: string;
}

export async function commandStage(options: ClusterOptions = {}): Promise<CommandStage> {
  const clock = realClock();
  const authority = createAuthority(clock);
  const cluster = await startCluster({ rootCertificate: authority.cert, ...options });
  const port = await cluster.listen({ authority });
  const folder = mkdtempSync(join(tmpdir(), "konverge-test-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, port.kubeconfig());
  return {
    cluster,
    client: cluster.client,
    port,
    folder,
    kubeconfig,
    async [Symbol.asyncDispose]() {
      await cluster.stop();
      await port.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until it is so; a minute at most. */
export async function until(what: string, holds: () => Promise<boolean> | boolean, clock: Clock = realClock()) {
  const deadline = clock.monotonic() + 60_000;
  let last: unknown;
  for (;;) {
    const is = await Promise.resolve()
      .then(holds)
      .catch((error: unknown) => {
        last = error;
        return false;
      });
    if (is) return;
    if (clock.monotonic() > deadline) throw new Error(`it never came true that ${what}`, { cause: last });
    await sleep(clock, 20);
  }
}
