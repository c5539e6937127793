import { startRealCluster } from "@konverge/real";
import type { Target } from "./target.ts";

/** A real kube-apiserver and its etcd. */
export async function startRealTarget(): Promise<Target> {
  const cluster = await startRealCluster();
  let count = 0;
  return {
    access: { ca: cluster.ca, cert: cluster.clientCert, key: cluster.clientKey },
    // Its watch cache keeps events for 75 s at least, and begins empty; etcd is compacted after five minutes. A cache that has lost
    // etcd begins again when its reflector tries again, after up to 30 s and their jitter.
    retention: { ms: 70_000, changes: 100_000, forgottenByRestart: 45_000 },
    port: Number(new URL(cluster.url).port),
    pids: () => [cluster.etcd.pid, cluster.apiServerPid].filter((pid) => pid !== undefined),
    restart: () => (++count % 3 === 0 ? cluster.etcd.restart() : cluster.restartApiServer("SIGKILL")),
    compact: () => cluster.etcd.compact(),
    problems: [],
    close: () => cluster.stop(),
  };
}
