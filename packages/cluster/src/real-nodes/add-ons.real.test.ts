import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@konverge/client";
import { isNotFound } from "@konverge/core";
import { EndpointSlice, PersistentVolume, PersistentVolumeClaim, Pod, Service } from "@konverge/kinds";
import { findControlPlane, startRealCluster } from "@konverge/real";
import { startAddOns } from "./add-ons.ts";

const plane = findControlPlane();
const skip = plane.available ? false : plane.why;

test("on the real control plane, the add-ons answer DNS queries, and make, enlarge and delete local volumes", {
  skip,
}, async () => {
  await using cluster = await startRealCluster({ controllers: true, scheduler: true, kwok: { nodes: 1, gpus: 0 } });
  await using client = await connect({ kubeconfig: cluster.kubeconfig });
  const folders = new Set<string>();
  const localVolumes = {
    create: async (node: string, name: string) => {
      folders.add(`${node}/${name}`);
      return `/volumes/${name}`;
    },
    delete: async (node: string, name: string) => void folders.delete(`${node}/${name}`),
  };
  await using _addOns = await startAddOns(client, { dns: { listen: "127.0.0.1", ip: "192.0.2.1" }, localVolumes });

  const { items: slices } = await client.list(EndpointSlice, { namespace: "kube-system" });
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${slices[0]!.ports![0]!.port}`]);
  const metadata = { name: "web", namespace: "default" };
  await client.create(Service, { metadata, spec: { clusterIP: "10.96.7.7", ports: [{ port: 80 }] } });
  await until(async () => {
    const found = await resolver.resolve4("web.default.svc.cluster.local").catch(() => []);
    return found[0] === "10.96.7.7";
  });

  const spec = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "1Gi" } } };
  await client.create(PersistentVolumeClaim, { metadata, spec });
  await client.create(Pod, {
    metadata,
    spec: {
      containers: [{ name: "web", image: "example.com/web" }],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "web" } }],
    },
  });
  const read = () => client.get(PersistentVolumeClaim, "default/web");
  await until(async () => (await read()).status?.phase === "Bound");
  const name = (await read()).spec!.volumeName!;
  assert.deepEqual([...folders], [`node-0/${name}`]);
  const larger = { spec: { resources: { requests: { storage: "2Gi" } } } };
  await client.patch(PersistentVolumeClaim, "default/web", { merge: larger });
  await until(async () => (await read()).status?.capacity?.["storage"] === "2Gi");
  await client.delete(Pod, "default/web", { gracePeriodSeconds: 0 });
  await client.delete(PersistentVolumeClaim, "default/web");
  await until(() => client.get(PersistentVolume, name).then(() => false, isNotFound));
  assert.deepEqual([...folders], []);
});

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await isTrue()); await sleep(100)) assert.ok(Date.now() < deadline);
}
