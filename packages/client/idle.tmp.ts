import { startRealCluster } from "../../tools/real/index.ts";
import { connect } from "./src/index.ts";

await using cluster = await startRealCluster();
await using client = await connect({ kubeconfig: cluster.kubeconfig });
const end = new AbortController();
setTimeout(() => end.abort(), 290_000);
const t = performance.now();
for await (const e of client.watch(
  { group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true },
  { signal: end.signal },
))
  console.log(((performance.now() - t) / 1000).toFixed(1), JSON.stringify(e).slice(0, 120));
