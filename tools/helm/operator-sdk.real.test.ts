// Operator SDK's own sample of a Helm operator, with its watches.yaml and its sample object as they are.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Client, connect } from "@konverge/client";
import { startCluster } from "@konverge/cluster";
import { type AnyObject, isNotFound, type KindRef, realClock, sleep } from "@konverge/core";
import { helmOperator } from "@konverge/declarative";
import { CustomResourceDefinition, PodDisruptionBudget, Service, StatefulSet } from "@konverge/kinds";
import { downloadModule, findControlPlane, startRealCluster } from "@konverge/real";
import { Manager, silentLog } from "@konverge/runtime";
import { parseYaml } from "@konverge/schema";

const plane = findControlPlane();
const clock = realClock();
const NAME = "default/memcached-sample";

test("on the embedded cluster, the sample converges and is repaired, upgraded and deleted", {
  timeout: 300_000,
}, async () => {
  await using cluster = await startCluster();
  await story(cluster.client);
});

const real = { skip: plane.available ? false : plane.why, timeout: 300_000 };
test("on a real control plane, the sample converges and is repaired, upgraded and deleted", real, async () => {
  await using cluster = await startRealCluster({ controllers: true, scheduler: true, kwok: { nodes: 2 } });
  await story(await connect({ kubeconfig: cluster.kubeconfig }));
});

async function story(client: Client): Promise<void> {
  const { Dir } = downloadModule(tmpdir(), "github.com/operator-framework/operator-sdk@v1.42.2");
  const folder = join(Dir, "testdata/helm/memcached-operator");
  const operator = helmOperator({ watches: join(folder, "watches.yaml") });
  const kind = operator.kinds[0] as unknown as KindRef<AnyObject>;
  for (const one of operator.kinds)
    await client.create(CustomResourceDefinition, one.crd() as CustomResourceDefinition);
  const { controllers } = operator.create({ metrics: undefined as never, settings: {}, log: silentLog });
  await using _manager = await started(controllers, client);

  const [sample] = parseYaml(readFileSync(join(folder, "config/samples/cache_v1alpha1_memcached.yaml"), "utf8"));
  const { metadata, ...rest } = sample as AnyObject;
  const created = async () => {
    await client.create(kind, { ...rest, metadata: { ...metadata, namespace: "default" } } as AnyObject);
  };
  await eventually(created);
  await eventually(async () => assert.match(await ready(client, kind), /^True/));
  const set = NAME;
  assert.equal((await client.get(StatefulSet, set)).spec?.replicas, 3);
  // A hook after the installation.
  assert.ok(await client.get(PodDisruptionBudget, set));

  await client.patch(StatefulSet, set, { merge: { spec: { replicas: 1 } } });
  await client.delete(Service, set);
  await eventually(async () => assert.equal((await client.get(StatefulSet, set)).spec?.replicas, 3));
  await eventually(async () => assert.ok(await client.get(Service, set)));

  await client.patch(kind, NAME, { merge: { spec: { replicaCount: 2 } } });
  await eventually(async () => assert.equal((await client.get(StatefulSet, set)).spec?.replicas, 2));
  await eventually(async () => assert.match(await ready(client, kind), /^True/));

  await client.delete(kind, NAME);
  await eventually(() => assert.rejects(client.get(kind, NAME), isNotFound));
  await assert.rejects(client.get(StatefulSet, set), isNotFound);
}

async function started(controllers: ConstructorParameters<typeof Manager>[0], client: Client) {
  const manager = new Manager(controllers, { client });
  await manager.start();
  return { [Symbol.asyncDispose]: () => manager.stop() };
}

async function ready(client: Client, kind: KindRef<AnyObject>): Promise<string> {
  const { status } = await client.get(kind, NAME);
  const { conditions = [] } = (status ?? {}) as { conditions?: readonly Record<string, string>[] };
  const found = conditions.find(({ type }) => type === "Ready");
  return `${found?.["status"]} ${found?.["reason"]}: ${found?.["message"]}`;
}

async function eventually(check: () => Promise<void>): Promise<void> {
  for (let i = 0; ; i++) {
    try {
      return await check();
    } catch (error) {
      if (i >= 400) throw error;
      await sleep(clock, 300);
    }
  }
}
