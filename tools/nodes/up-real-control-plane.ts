// As `konverge up --real-nodes N`, with the real control plane: etcd, kube-apiserver, kube-controller-manager and kube-scheduler.
// It has the options of `konverge up` that tests use, sends a message to its parent when the nodes are ready, and removes
// everything when it is interrupted or its parent has ended.
import { once } from "node:events";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { kubeconfigText } from "@konverge/apiserver";
import { connect } from "@konverge/client";
import { createBootstrapToken } from "@konverge/cluster";
import { startAddOns } from "@konverge/cluster/add-ons";
import { realClock } from "@konverge/core";
import { openNetwork, removeLinuxNodes, startLinuxNode, volumesOf } from "@konverge/linux-node";
import { startRealCluster } from "@konverge/real";

const text = { type: "string", default: "" } as const;
const { values: options } = parseArgs({
  options: { name: text, data: text, kubeconfig: text, "bootstrap-kubeconfig": text, "real-nodes": text },
  allowPositionals: true,
});

const interrupted = new AbortController();
for (const event of ["SIGINT", "SIGTERM", "disconnect"]) process.once(event, () => interrupted.abort());

await up(interrupted.signal);
if (process.connected) process.disconnect();

async function up(signal: AbortSignal): Promise<void> {
  const clock = realClock();
  const folder = join(process.env["KONVERGE_HOME"]!, "nodes", options.name);
  await using running = new AsyncDisposableStack();
  running.defer(() => removeLinuxNodes(folder, clock));
  const network = await openNetwork(folder);
  const plane = running.use(await startRealCluster({ controllers: true, scheduler: true, nodes: network }));
  const client = running.use(await connect({ kubeconfig: plane.kubeconfig }));
  const dns = { listen: network.address, ip: network.address };
  running.use(await startAddOns(client, { dns, localVolumes: volumesOf(folder) }));
  const [user, token] = ["kubelet-bootstrap", await createBootstrapToken(client, clock)];
  const certificateAuthority = plane.ca;
  const bootstrapKubeconfig = kubeconfigText({
    ...{ name: user, url: plane.url, ca: certificateAuthority },
    ...{ user, credential: { token } },
  });
  const starting = Array.from({ length: Number(options["real-nodes"]) }, (_, index) => {
    const name = `linux-${index + 1}`;
    return startLinuxNode({
      ...{ folder, name, client, clock, bootstrapKubeconfig, certificateAuthority, signal },
      volumes: join(options.data, "volumes", name),
    });
  });
  // All of them have ended before those that started are removed because of one that did not.
  for (const outcome of await Promise.allSettled(starting)) if (outcome.status === "rejected") throw outcome.reason;
  writeFileSync(options["bootstrap-kubeconfig"], bootstrapKubeconfig, { mode: 0o600 });
  copyFileSync(plane.kubeconfig, options.kubeconfig);
  process.send?.("ready");
  if (!signal.aborted) await once(signal, "abort");
}
