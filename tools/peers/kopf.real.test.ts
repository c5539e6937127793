import assert from "node:assert/strict";
import { join } from "node:path";
import { type AnyObject, isNotFound, type KindRef, type KubeObject } from "@konverge/core";
import { ConfigMap, CustomResourceDefinition, Event } from "@konverge/kinds";
import { kopf } from "./catalogue.ts";
import { onBothServers, type Scene } from "./on-both-servers.ts";
import type { Stage } from "./stage.ts";

interface Teapot extends AnyObject {
  spec: { tea: string };
  status?: { coolings?: number; brewed?: { by: string }; "changed/spec.tea"?: { from: string; to: string } };
}
const Teapot: KindRef<Teapot> = {
  group: "peers.example.com",
  version: "v1",
  kind: "Teapot",
  plural: "teapots",
  namespaced: true,
};
const KopfPeering: KindRef<AnyObject> = {
  group: "kopf.dev",
  version: "v1",
  kind: "KopfPeering",
  plural: "kopfpeerings",
  namespaced: true,
};

onBothServers(kopf, {
  "an operator in Python handles creations, changes, deletions and timers": async (scene) => {
    const { stage } = scene;
    const { client, until } = stage;
    const namespace = await stage.namespace("tea");
    await install(stage, Teapot);
    await using program = operator(scene, namespace, ["--standalone"]);
    await client.create(Teapot, teapot(namespace, "pot", "green"));
    const get = () => client.get(Teapot, `${namespace}/pot`);
    await until("the creation is handled", async () => (await get()).status?.brewed?.by === "kopf");
    assert.deepEqual((await get()).metadata.finalizers, ["peers.example.com/kopf"]);
    const settings = await client.get(ConfigMap, `${namespace}/pot-settings`);
    assert.deepEqual(settings.data, { tea: "green" });
    assert.equal(settings.metadata.ownerReferences?.[0]?.name, "pot");
    await until("the timer has fired three times", async () => (await get()).status?.coolings === 3);

    await client.patch(Teapot, `${namespace}/pot`, { merge: { spec: { tea: "black" } } });
    const tea = async () => (await client.get(ConfigMap, `${namespace}/pot-settings`)).data?.["tea"];
    await until("the change is handled", async () => (await tea()) === "black");
    await until("the result is in the status", async () => (await get()).status?.["changed/spec.tea"]?.to === "black");
    const events = async () =>
      (await client.list(Event, { namespace })).items.filter(({ reason }) => reason === "Changed");
    await until("the event is there", async () => (await events()).length > 0);
    assert.equal((await events())[0]?.message, "from green to black");

    await client.create(ConfigMap, { metadata: { name: "labelled", namespace, labels: { tea: "yes" } } });
    await until("an event of another kind is handled", () => program.output.includes("saw labelled: ADDED"));

    await client.delete(Teapot, `${namespace}/pot`);
    await until("the teapot is gone", () => isDeleted(stage, Teapot, `${namespace}/pot`));
    await client.get(ConfigMap, `${namespace}/pot-leaves`);
    await until("its child is gone", () => isDeleted(stage, ConfigMap, `${namespace}/pot-settings`));
    assert.equal(await program.kill("SIGTERM"), 0, program.output.slice(-2000));
    assert.doesNotMatch(program.output, /Traceback|ERROR/);
  },

  "of two operators that know each other the more important one works, until it leaves": async (scene) => {
    const { stage } = scene;
    const { client, until } = stage;
    const namespace = await stage.namespace("peering");
    await install(stage, Teapot);
    await install(stage, KopfPeering);
    await client.create(KopfPeering, {
      apiVersion: "kopf.dev/v1",
      kind: "KopfPeering",
      metadata: { name: "kettle", namespace },
    });
    await using lesser = operator(scene, namespace, ["--peering=kettle", "--priority=1"], "lesser");
    await until("the first has introduced itself", async () => (await peers()) === 1);
    await using greater = operator(scene, namespace, ["--peering=kettle", "--priority=9"], "greater");
    await until("the first has stepped back", () => lesser.output.includes("Pausing operations in favour of"));
    const by = async (name: string) => (await client.get(Teapot, `${namespace}/${name}`)).status?.brewed?.by;
    await client.create(Teapot, teapot(namespace, "first", "green"));
    await until("the more important one works", async () => (await by("first")) === "greater");
    await greater.kill("SIGTERM");
    await until("the other resumes", () => lesser.output.includes("Resuming operations after the pause"));
    await client.create(Teapot, teapot(namespace, "second", "green"));
    await until("the other works", async () => (await by("second")) === "lesser");

    async function peers(): Promise<number> {
      const { status } = (await client.get(KopfPeering, `${namespace}/kettle`)) as { status?: object };
      return Object.keys(status ?? {}).length;
    }
  },
});

function operator({ stage, peer }: Scene, namespace: string, more: string[], name = "kopf") {
  const args = ["-m", "kopf", "run", "--verbose", "--namespace", namespace, ...more, peer.program];
  return stage.run("python3", args, { PYTHONPATH: join(peer.folder, "packages"), OPERATOR_NAME: name });
}

function teapot(namespace: string, name: string, tea: string): Teapot {
  return { apiVersion: "peers.example.com/v1", kind: "Teapot", metadata: { name, namespace }, spec: { tea } };
}

function isDeleted<T extends KubeObject>({ client }: Stage, kind: KindRef<T>, key: string): Promise<boolean> {
  return client.get(kind, key).then(
    () => false,
    (error: unknown) => isNotFound(error),
  );
}

/** Installs a kind that holds whatever it is given, as kopf's own definitions do. */
async function install(
  { client, until }: Stage,
  { group, version, kind, plural }: Omit<KindRef, "__type">,
): Promise<void> {
  const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  await client.apply(CustomResourceDefinition, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: free } }],
    },
  } as never);
  await until(`${plural} are served`, async () => {
    const { status } = await client.get(CustomResourceDefinition, `${plural}.${group}`);
    return Boolean(status?.conditions?.some(({ type, status }) => type === "Established" && status === "True"));
  });
}
