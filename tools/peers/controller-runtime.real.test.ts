import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createAuthority } from "@konverge/apiserver";
import { connect } from "@konverge/client";
import { type AnyObject, isNotFound, type KindRef, type KubeObject, realClock } from "@konverge/core";
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Lease,
  MutatingWebhookConfiguration,
  Secret,
  ValidatingWebhookConfiguration,
} from "@konverge/kinds";
import { Event } from "@konverge/kinds/events.v1";
import { controllerRuntime } from "./catalogue.ts";
import { onBothServers, type Scene } from "./on-both-servers.ts";
import type { RunningProgram } from "./program.ts";
import type { Stage } from "./stage.ts";

interface Gadget extends AnyObject {
  spec: { size?: number; color?: string; dimensions?: { size: number } };
  status?: {
    ready: number;
    handler: string;
    siblings: number;
    secrets?: number;
    observedGeneration: number;
    conditions: { type: string; status: string }[];
  };
}
const group = "peers.example.com";
const Gadget: KindRef<Gadget> = { group, version: "v1", kind: "Gadget", plural: "gadgets", namespaced: true };
const GadgetV2: KindRef<Gadget> = { ...Gadget, version: "v2" };

onBothServers(controllerRuntime, {
  "an operator in Go creates, repairs and removes what belongs to its objects": async (scene) => {
    const { stage } = scene;
    const { client, until } = stage;
    const namespace = await stage.namespace("children");
    await installKind(stage);
    await using _ = replica(scene, "only", namespace);
    await client.create(Gadget, gadget(`${namespace}/lamp`, { size: 2, color: "red" }));
    const status = async () => (await client.get(Gadget, `${namespace}/lamp`)).status;
    await until("the gadget is ready", async () =>
      Boolean((await status())?.conditions.some(({ type, status }) => type === "Ready" && status === "True")),
    );
    const { conditions: _c, ...rest } = (await status())!;
    assert.deepEqual(rest, { ready: 2, handler: "only", siblings: 1, observedGeneration: 1 });

    const settings = () => client.get(ConfigMap, `${namespace}/lamp-settings`);
    const applied = await settings();
    assert.deepEqual(applied.data, { size: "2", color: "red" });
    assert.equal(applied.metadata.ownerReferences?.[0]?.kind, "Gadget");
    const managers = applied.metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`);
    assert.deepEqual(managers, ["gadget-controller Apply"]);

    await client.patch(ConfigMap, `${namespace}/lamp-settings`, { merge: { data: { size: "7" } } });
    await until("what somebody changed is put right", async () => (await settings()).data?.["size"] === "2");
    await client.patch(Gadget, `${namespace}/lamp`, { merge: { spec: { size: 3 } } });
    await until("the new size is reached", async () => (await status())?.ready === 3);

    const labels = { gadget: "lamp" };
    await client.create(Secret, { metadata: { name: "key", namespace, labels }, stringData: { key: "hidden" } });
    await until("the secret is counted", async () => (await status())?.secrets === 1);

    const events = async () => (await client.list(Event, { namespace })).items;
    await until("its events are there", async () => (await events()).length > 0);
    const event = (await events()).find(({ reason }) => reason === "Deployed");
    assert.equal(event?.regarding?.name, "lamp");
    assert.equal(event?.related?.kind, "Deployment");
    assert.equal(event?.note, "deployment lamp created");

    await client.delete(Gadget, `${namespace}/lamp`);
    const isDeleted = <T extends KubeObject>(kind: KindRef<T>, name: string) =>
      client.get(kind, `${namespace}/${name}`).then(
        () => false,
        (error: unknown) => isNotFound(error),
      );
    await until("the gadget is gone", () => isDeleted(Gadget, "lamp"));
    assert.deepEqual((await client.get(ConfigMap, `${namespace}/lamp-farewell`)).data, { color: "red" });
    await until(
      "its children are gone",
      async () => (await isDeleted(Deployment, "lamp")) && isDeleted(ConfigMap, "lamp-settings"),
    );
  },

  "its webhooks default, refuse, warn and convert": async (scene) => {
    const { stage } = scene;
    const namespace = await stage.namespace("webhooks");
    const { url, ca, port, certificates } = await webhookPlace(stage);
    await installKind(stage, { url: `${url}/convert`, ca });
    await using server = replica(scene, "webhooks", namespace, [`-certificates=${certificates}`, `-port=${port}`]);
    await stage.until("the webhooks are served", () => server.output.includes("Serving webhook server"));
    await installWebhooks(stage, namespace, url, ca);
    const warnings: string[] = [];
    await using client = await connect({ kubeconfig: stage.kubeconfig, onWarning: (text) => warnings.push(text) });
    const create = (name: string, spec: Gadget["spec"]) => client.create(Gadget, gadget(`${namespace}/${name}`, spec));

    await stage.until("the webhooks are asked", async () => {
      const made = await create("probe", { size: 1 });
      await client.delete(Gadget, `${namespace}/probe`, { gracePeriodSeconds: 0 });
      await stage.until("the probe is gone", () =>
        client.get(Gadget, `${namespace}/probe`).then(
          () => false,
          () => true,
        ),
      );
      return made.spec.color === "grey";
    });
    await assert.rejects(create("huge", { size: 10 }), {
      code: 422,
      message:
        'admission webhook "validate.peers.example.com" denied the request: Gadget.peers.example.com "huge" is invalid: spec.size: Invalid value: 10: at most 9',
    });
    assert.deepEqual(warnings.splice(0), []);
    await create("large", { size: 6 });
    assert.deepEqual(warnings, ["a large gadget"]);
    await assert.rejects(client.patch(Gadget, `${namespace}/large`, { merge: { spec: { color: "blue" } } }), {
      code: 422,
      message: /spec\.color: Forbidden: a gadget keeps its color/,
    });
    await client.patch(Gadget, `${namespace}/large`, { merge: { metadata: { labels: { keep: "true" } } } });
    await assert.rejects(client.delete(Gadget, `${namespace}/large`), { code: 403, message: /large is to be kept/ });

    assert.deepEqual((await client.get(GadgetV2, `${namespace}/large`)).spec, {
      dimensions: { size: 6 },
      color: "grey",
    });
    await client.create(GadgetV2, {
      ...gadget(`${namespace}/second`, { dimensions: { size: 4 } }),
      apiVersion: `${group}/v2`,
    });
    assert.deepEqual((await client.get(Gadget, `${namespace}/second`)).spec, { size: 4, color: "grey" });
    const listed = (await client.list(GadgetV2, { namespace })).items.map(({ spec }) => spec.dimensions?.size);
    assert.deepEqual(listed, [6, 4]);
  },

  "of two replicas one leads, and the other takes over when it is killed": async (scene) => {
    const { stage } = scene;
    const { client, until } = stage;
    const namespace = await stage.namespace("leaders");
    await installKind(stage);
    const replicas = new Map<string, RunningProgram>(
      ["one", "two"].map((name) => [name, replica(scene, name, namespace)]),
    );
    try {
      await client.create(Gadget, gadget(`${namespace}/lamp`, { size: 1, color: "red" }));
      const handler = async (name: string) => (await client.get(Gadget, `${namespace}/${name}`)).status?.handler;
      await until("somebody handles the gadget", async () => (await handler("lamp")) !== undefined);
      const leader = (await handler("lamp"))!;
      const [first, second] = [replicas.get(leader)!, replicas.get(leader === "one" ? "two" : "one")!];
      const isLeader = ({ output }: RunningProgram) => output.includes("Successfully acquired lease");
      await until("the leader says so", () => isLeader(first));
      assert.equal(isLeader(second), false);
      const lease = () => client.get(Lease, `${namespace}/gadget-controller`);
      const { spec: before } = await lease();

      await first.kill("SIGKILL");
      await client.create(Gadget, gadget(`${namespace}/torch`, { size: 1, color: "red" }));
      await until("the other replica handles what is new", async () => (await handler("torch")) !== undefined);
      assert.notEqual(await handler("torch"), leader);
      const { spec: now } = await lease();
      assert.equal(now?.leaseTransitions, (before?.leaseTransitions ?? 0) + 1);
      assert.notEqual(now?.holderIdentity, before?.holderIdentity);
    } finally {
      for (const one of replicas.values()) await one.kill();
    }
  },
});

function replica({ stage, peer }: Scene, name: string, namespace: string, more: string[] = []): RunningProgram {
  return stage.run(peer.program, [`-name=${name}`, `-namespace=${namespace}`, ...more]);
}

function gadget(key: string, spec: Gadget["spec"]): Gadget {
  const [namespace, name] = key.split("/") as [string, string];
  return { apiVersion: `${group}/v1`, kind: "Gadget", metadata: { name, namespace }, spec };
}

/** Installs the kind, or says how it is converted if it is there. */
async function installKind({ client, until }: Stage, webhook?: { url: string; ca: string }): Promise<void> {
  const free = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: free, status: free } } };
  const versions = ["v1", "v2"].map((name) => ({
    name,
    served: true,
    storage: name === "v1",
    schema,
    subresources: { status: {} },
  }));
  const clientConfig = webhook && { url: webhook.url, caBundle: Buffer.from(webhook.ca).toString("base64") };
  await client.apply(CustomResourceDefinition, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind: "Gadget", listKind: "GadgetList", plural: "gadgets", singular: "gadget" },
      versions,
      conversion: webhook
        ? { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } }
        : { strategy: "None" },
    },
  } as never);
  await until("the kind is served", () =>
    client.list(Gadget, { namespace: "default" }).then(
      () => true,
      () => false,
    ),
  );
}

async function installWebhooks({ client }: Stage, namespace: string, url: string, ca: string): Promise<void> {
  const webhook = (name: string, path: string, operations: string[]) => ({
    name: `${name}.${group}`,
    clientConfig: { url: `${url}/${path}-peers-example-com-v1-gadget`, caBundle: Buffer.from(ca).toString("base64") },
    rules: [{ apiGroups: [group], apiVersions: ["v1"], operations, resources: ["gadgets"] }],
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    failurePolicy: "Fail",
  });
  await client.create(MutatingWebhookConfiguration, {
    metadata: { name: "gadgets" },
    webhooks: [webhook("mutate", "mutate", ["CREATE"])],
  } as never);
  await client.create(ValidatingWebhookConfiguration, {
    metadata: { name: "gadgets" },
    webhooks: [webhook("validate", "validate", ["CREATE", "UPDATE", "DELETE"])],
  } as never);
}

/** A free port of this machine, and certificates for it. */
async function webhookPlace({ folder }: Stage) {
  const authority = createAuthority(realClock());
  const { cert, key } = authority.server("webhooks", ["127.0.0.1"]);
  writeFileSync(join(folder, "tls.crt"), cert);
  writeFileSync(join(folder, "tls.key"), key);
  const port = await new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
  return { url: `https://127.0.0.1:${port}`, ca: authority.cert, port, certificates: folder };
}
