// node tools/conformance/embedded-cluster.ts KUBECONFIG [IMAGE…]
// An embedded cluster in a separate process, as `konverge up --strict-images --image IMAGE…` starts it; it ends when its
// standard input does.
import { writeFileSync } from "node:fs";
import { createAuthority } from "@konverge/apiserver";
import { plainNodes, startCluster } from "@konverge/cluster";
import { realClock } from "@konverge/core";
import { Lease } from "@konverge/kinds";
import { pullable, registerImages } from "./images/images.ts";

const [kubeconfig, ...images] = process.argv.slice(2);
if (!kubeconfig) throw new Error("usage: node tools/conformance/embedded-cluster.ts KUBECONFIG [IMAGE…]");

const authority = createAuthority(realClock());
const cluster = await startCluster({
  rootCertificate: authority.cert,
  frontProxy: createAuthority(realClock(), { name: "front-proxy-ca" }),
  nodes: plainNodes(3),
  strictImages: true,
  images: pullable(images),
});
registerImages(cluster);
void followHeartbeats();
const port = await cluster.listen({
  authority,
  onError: (error, { method, path }) => console.error(`${method} ${path}:`, error),
});
writeFileSync(kubeconfig, port.kubeconfig(), { mode: 0o600 });
console.log(port.url);

process.stdin.resume();
process.stdin.once("end", () => {
  void port
    .close()
    .then(() => cluster.stop())
    .then(() => process.exit(0));
});

/**
 * Watches the nodes, as a monitoring client of a real cluster does: heartbeats are written while they are watched, so that
 * the resource version advances and older versions are compacted although nothing else happens.
 */
async function followHeartbeats(): Promise<void> {
  for await (const _ of cluster.client.watch(Lease, { namespace: "kube-node-lease" }));
}
