import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { connect as connectTls } from "node:tls";
import { startCluster } from "@konverge/cluster";
import type { KubeObject } from "@konverge/core";
import { EndpointSlice, Endpoints, Service } from "@konverge/kinds";
import { during, virtualStage } from "./stages.ts";

test("the Service kubernetes has endpoints, which no controller mirrors or removes", async () => {
  const { client, cluster, clock, pass } = await virtualStage();
  const ports = [{ name: "web", port: 80 }];
  await client.create(Service, { metadata: { name: "other" }, spec: { selector: { app: "web" }, ports } });
  await pass(60_000);
  const { subsets } = await client.get(Endpoints, "default/kubernetes");
  const [subset] = subsets!;
  assert.deepEqual(subset!.ports, [{ name: "https", port: 6443, protocol: "TCP" }]);
  const slices = (
    await client.list(EndpointSlice, { namespace: "default", labelSelector: "kubernetes.io/service-name=kubernetes" })
  ).items;
  assert.deepEqual(
    slices.map(({ metadata, endpoints }) => [metadata.name, endpoints?.[0]?.addresses]),
    [["kubernetes", [subset!.addresses![0]!.ip]]],
  );
  assert.equal((await client.get(Service, "default/kubernetes")).spec?.ports?.[0]?.targetPort, 6443);
  await during(clock, cluster.stop());
});

test("the Service kubernetes and its endpoints come back when they are deleted or lead elsewhere", async () => {
  const { client, cluster, clock, pass } = await virtualStage();
  const key = "default/kubernetes";
  const before = await client.get(Service, key);
  for (const kind of [Service, Endpoints, EndpointSlice]) {
    await client.delete<KubeObject>(kind, key);
    await pass(10_000);
    await client.get<KubeObject>(kind, key);
  }
  const after = await client.get(Service, key);
  assert.notEqual(after.metadata.uid, before.metadata.uid);
  assert.deepEqual(after.spec, before.spec);
  const { subsets } = await client.get(Endpoints, key);
  const elsewhere = [{ addresses: [{ ip: "192.0.2.66" }], ports: [{ port: 1 }] }];
  await client.patch(Endpoints, key, { merge: { subsets: elsewhere } });
  await client.patch(EndpointSlice, key, { merge: { endpoints: [{ addresses: ["192.0.2.66"] }] } });
  await client.patch(Service, key, { merge: { metadata: { labels: { mine: "yes" } } } });
  await pass(10_000);
  assert.deepEqual((await client.get(Endpoints, key)).subsets, subsets);
  assert.deepEqual((await client.get(EndpointSlice, key)).endpoints?.[0]?.addresses, [subsets![0]!.addresses![0]!.ip]);
  assert.equal((await client.get(Service, key)).metadata.labels?.["mine"], "yes");
  await during(clock, cluster.stop());
});

test("the Service kubernetes leads to the advertised address, which the server's certificate has", async () => {
  await using cluster = await startCluster({ nodes: [] });
  await using port = await cluster.listen({ advertise: "192.0.2.7" });
  const { client } = cluster;
  assert.equal(port.advertised?.url, `https://192.0.2.7:${port.port}`);
  const [subset] = (await client.get(Endpoints, "default/kubernetes")).subsets!;
  assert.deepEqual(subset?.addresses, [{ ip: "192.0.2.7" }]);
  assert.equal(subset?.ports?.[0]?.port, port.port);
  assert.equal((await client.get(Service, "default/kubernetes")).spec?.ports?.[0]?.targetPort, port.port);
  const socket = connectTls({ host: "127.0.0.1", port: port.port, ca: port.authority.cert });
  await once(socket, "secureConnect");
  const certificate = socket.getPeerX509Certificate()!;
  for (const address of ["192.0.2.7", "10.96.0.1", "127.0.0.1"]) assert.ok(certificate.checkIP(address), address);
  socket.destroy();
});
