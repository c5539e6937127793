import assert from "node:assert/strict";
import { test } from "node:test";
import { EndpointSlice, Endpoints, Service } from "@konverge/kinds";
import { during, virtualStage } from "./stages.ts";

test("the Service kubernetes has endpoints, and nobody mirrors or removes them", async () => {
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
