import assert from "node:assert/strict";
import { EndpointSlice, Endpoints, Node, Pod, Service } from "@konverge/kinds";
import { type Behavior, find, labelsOf, run, type Stage, template } from "./stage.ts";

const nodeOf = ({ namespace }: Stage) => `${namespace}-node`;

async function pod(stage: Stage, name: string): Promise<Pod> {
  const { metadata, spec } = template();
  const ports = [{ name: "http", containerPort: 8080 }];
  const containers = spec.containers.map((container) => ({ ...container, ports }));
  return stage.client.create(Pod, {
    metadata: { ...metadata, name, namespace: stage.namespace },
    spec: { ...spec, containers, nodeName: nodeOf(stage) },
  });
}

const slicesOf = async ({ client, namespace }: Stage) =>
  (await client.list(EndpointSlice, { namespace, labelSelector: "kubernetes.io/service-name=web" })).items;

const stateOf = async (stage: Stage) =>
  (await slicesOf(stage))
    .flatMap(({ endpoints }) => endpoints ?? [])
    .map(({ addresses, conditions }) => `${addresses[0]} ${conditions?.ready}`)
    .sort()
    .join();

const endpointsOf = (stage: Stage) => find(stage, Endpoints, `${stage.namespace}/web`);

export const services: Record<string, Behavior> = {
  "the pods behind a service are in its Endpoints and EndpointSlices, ready or not": async (stage) => {
    const { client, namespace } = stage;
    const ports = [{ name: "web", port: 80, targetPort: "http" }];
    await client.create(Node, {
      metadata: { name: nodeOf(stage), labels: { "topology.kubernetes.io/zone": "north" } },
    });
    await client.create(Service, {
      metadata: { name: "web", namespace, labels: { tier: "front" } },
      spec: { selector: { ...labelsOf }, ports },
    });
    await run(stage, await pod(stage, "a"), { ip: "10.1.0.1" });
    await run(stage, await pod(stage, "b"), { ip: "10.1.0.2", ready: false });
    await stage.until("the slices show both", async () => (await stateOf(stage)) === "10.1.0.1 true,10.1.0.2 false");
    const [slice] = await slicesOf(stage);
    assert.equal(slice!.addressType, "IPv4");
    assert.deepEqual(slice!.ports, [{ name: "web", port: 8080, protocol: "TCP" }]);
    assert.match(slice!.metadata.name, /^web-/);
    assert.equal(slice!.metadata.labels?.["endpointslice.kubernetes.io/managed-by"], "endpointslice-controller.k8s.io");
    assert.equal(slice!.metadata.labels?.["tier"], "front");
    assert.equal(slice!.metadata.ownerReferences?.[0]?.kind, "Service");
    const first = slice!.endpoints?.find(({ addresses }) => addresses[0] === "10.1.0.1");
    assert.equal(first?.targetRef?.name, "a");
    assert.equal(first?.nodeName, nodeOf(stage));
    assert.equal(first?.zone, "north");
    assert.deepEqual(first?.conditions, { ready: true, serving: true, terminating: false });
    await stage.until("the Endpoints show both", async () => {
      const [subset] = (await endpointsOf(stage))?.subsets ?? [];
      return subset?.addresses?.[0]?.ip === "10.1.0.1" && subset.notReadyAddresses?.[0]?.ip === "10.1.0.2";
    });
    const [subset] = (await endpointsOf(stage))!.subsets!;
    assert.deepEqual(subset!.ports, [{ name: "web", port: 8080, protocol: "TCP" }]);
    assert.equal(subset!.addresses![0]!.targetRef?.name, "a");
    await client.delete(Pod, `${namespace}/a`, { gracePeriodSeconds: 0 });
    await stage.until("only the other is left", async () => (await stateOf(stage)) === "10.1.0.2 false");
    await client.delete(Service, `${namespace}/web`);
    await stage.until(
      "nothing is left",
      async () => (await slicesOf(stage)).length === 0 && !(await endpointsOf(stage)),
    );
  },

  "Endpoints that users keep themselves are mirrored into EndpointSlices": async (stage) => {
    const { client, namespace } = stage;
    await client.create(Service, {
      metadata: { name: "web", namespace },
      spec: { ports: [{ name: "db", port: 5432 }] },
    });
    const subsets = [
      { addresses: [{ ip: "192.0.2.7" }], ports: [{ name: "db", port: 5432, protocol: "TCP" as const }] },
    ];
    await client.create(Endpoints, { metadata: { name: "web", namespace }, subsets });
    await stage.until("a slice mirrors them", async () => (await stateOf(stage)) === "192.0.2.7 true");
    const [slice] = await slicesOf(stage);
    assert.equal(
      slice!.metadata.labels?.["endpointslice.kubernetes.io/managed-by"],
      "endpointslicemirroring-controller.k8s.io",
    );
    assert.equal(slice!.metadata.ownerReferences?.[0]?.kind, "Endpoints");
    await client.delete(Endpoints, `${namespace}/web`);
    await stage.until("the slice goes with them", async () => (await slicesOf(stage)).length === 0);
  },
};
