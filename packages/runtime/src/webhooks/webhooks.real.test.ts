import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Client, connect } from "@konverge/client";
import { isInvalid, realClock, sleep } from "@konverge/core";
import { CustomResourceDefinition, ValidatingWebhookConfiguration } from "@konverge/kinds";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { defineKind, z } from "@konverge/schema";
import { checkPermissions } from "../rbac/preflight.ts";
import { admissionWebhook, fieldInvalid } from "./admission.ts";
import { serveWebhooks, type WebhookServer, webhookPermissions } from "./serve-webhooks.ts";
import { Webhooks } from "./webhooks.ts";

const plane = findControlPlane();
const options = { skip: plane.available ? false : plane.why, timeout: 120_000 };
const clock = realClock();

const Model = defineKind({
  group: "ai.example.com",
  kind: "Model",
  stored: "v1",
  versions: {
    v1: { spec: z.object({ size: z.int().default(1), owner: z.string().optional() }) },
    v1beta1: { spec: z.object({ replicas: z.int().default(1) }) },
  },
  conversion: {
    v1beta1: {
      toStored: ({ spec }) => ({ spec: { size: spec.replicas } }),
      fromStored: ({ spec }) => ({ spec: { replicas: spec.size } }),
    },
  },
});

const webhooks = new Webhooks({
  conversions: [Model],
  admissions: [
    admissionWebhook(Model, {
      mutate(draft, { user }) {
        draft.spec.owner ??= user.username ?? "nobody";
      },
      validate(model, { warn }) {
        if (model.spec.size === 4) warn("four is an unlucky size");
        return model.spec.size < 0 ? [fieldInvalid("spec.size", model.spec.size, "must not be negative")] : [];
      },
    }),
  ],
});

let cluster: RealCluster;
let client: Client;
let hooks: WebhookServer;
const warnings: string[] = [];

before(async () => {
  if (!plane.available) return;
  cluster = await startRealCluster();
  client = await connect({ kubeconfig: cluster.kubeconfig, onWarning: (message) => void warnings.push(message) });
  // Where the webhook will be is not known yet: the registration fills it in.
  const nowhere = { url: "https://127.0.0.1:1/convert" };
  await client.create(CustomResourceDefinition, Model.crd({ conversionWebhook: nowhere }) as never);
  await until("the kind is served", () => client.list(Model));
  const place = { client, name: "models", host: "127.0.0.1", port: 0, url: "https://127.0.0.1:0" };
  hooks = await serveWebhooks(webhooks, place);
  await until("the webhooks are asked", async () => {
    const probe = Model.new({ metadata: { name: "probe", namespace: "default" } });
    assert.ok((await client.create(Model, probe, { dryRun: true })).spec.owner);
  });
});
after(async () => {
  await hooks?.close();
  await client?.close();
  await cluster?.stop();
});

async function until(what: string, attempt: () => Promise<unknown>, ms = 30_000): Promise<void> {
  const deadline = clock.monotonic() + ms;
  for (;;) {
    const failure = await attempt().then(
      () => undefined,
      (error: unknown) => error as Error,
    );
    if (!failure) return;
    if (clock.monotonic() > deadline) assert.fail(`it never came true that ${what}: ${failure.message}`);
    await sleep(clock, 100);
  }
}

const model = (name: string, size: number) => Model.new({ metadata: { name, namespace: "default" }, spec: { size } });

test("a real API server asks over TLS: objects are mutated, judged and warned about", options, async () => {
  const made = await client.create(Model, model("a", 4));
  assert.equal(made.spec.owner, (await client.whoAmI()).username);
  assert.ok(warnings.includes("four is an unlucky size"));
  await assert.rejects(client.create(Model, model("b", -1)), (error: unknown) => {
    assert.ok(isInvalid(error), String(error));
    assert.match((error as Error).message, /spec\.size: Invalid value: -1: must not be negative/);
    return true;
  });
});

test("a real API server has objects converted", options, async () => {
  await client.create(Model, model("c", 3));
  await until("the conversion is in force", async () => {
    assert.deepEqual((await client.get(Model.atVersion("v1beta1"), "default/c")).spec, { replicas: 3 });
  });
});

test("a caBundle that was taken away comes back, and nothing is written when all is in place", options, async () => {
  await client.patch(ValidatingWebhookConfiguration, "models", {
    json: [{ op: "remove", path: "/webhooks/0/clientConfig/caBundle" }],
  });
  const bundle = async () => (await client.get(ValidatingWebhookConfiguration, "models")).webhooks?.[0]?.clientConfig;
  await until("the bundle is back", async () => assert.ok((await bundle())?.caBundle));
  await until("writes pass again", () => client.create(Model, model("d", 1), { dryRun: true }));
  const version = async () => (await client.get(ValidatingWebhookConfiguration, "models")).metadata.resourceVersion;
  const [before, crdBefore] = [
    await version(),
    (await client.get(CustomResourceDefinition, "models.ai.example.com")).metadata.generation,
  ];
  await hooks.refresh();
  await sleep(clock, 500);
  assert.equal(await version(), before);
  assert.equal((await client.get(CustomResourceDefinition, "models.ai.example.com")).metadata.generation, crdBefore);
});

test("what webhooks need to be allowed is accepted by the server as a question", options, async () => {
  await checkPermissions(client, webhookPermissions(webhooks, { name: "models", namespace: "default" }));
});
