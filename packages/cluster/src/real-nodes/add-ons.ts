import type { Client } from "@konverge/client";
import { Cache, Manager } from "@konverge/runtime";
import { allowNodesToJoin } from "../controllers/node-bootstrap/join-objects.ts";
import { createDefaultClass, driver } from "../controllers/volume/provisioner.ts";
import { reclaimer } from "../controllers/volume/reclaim.ts";
import type { LocalVolumes } from "../parts/part.ts";
import { watchedServices } from "../streams/service-source.ts";
import { type DnsAddress, serveDns } from "./dns/kube-dns.ts";

/** Where the add-ons of a cluster with real nodes work. */
export interface AddOnOptions {
  readonly dns: DnsAddress;
  readonly localVolumes: LocalVolumes;
}

/**
 * What real nodes use besides Kubernetes' own components, for a control plane that is not the embedded one: the objects that
 * let nodes join with a bootstrap token, cluster DNS, and the default StorageClass, whose volumes are folders of nodes.
 */
export async function startAddOns(client: Client, { dns, localVolumes }: AddOnOptions): Promise<AsyncDisposable> {
  const running = new AsyncDisposableStack();
  try {
    await allowNodesToJoin(client);
    await createDefaultClass(client, "WaitForFirstConsumer");
    const cache = new Cache(client);
    running.defer(() => cache.stop());
    running.use(await serveDns(await watchedServices(cache), client, dns));
    const manager = new Manager([driver(localVolumes), reclaimer(localVolumes)], { client });
    running.defer(() => manager.stop());
    await manager.start();
    return running;
  } catch (error) {
    await running.disposeAsync();
    throw error;
  }
}
