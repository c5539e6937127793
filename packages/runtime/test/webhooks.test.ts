import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiServer } from "@konverge/apiserver";
import { Client } from "@konverge/client";
import { type ApiError, isInvalid, type KindRef, type KubeObject, VirtualClock } from "@konverge/core";
import {
  ConfigMap,
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  Namespace,
  Secret,
  ValidatingWebhookConfiguration,
} from "@konverge/kinds";
import {
  AdmissionDeniedError,
  admissionWebhook,
  builtInCertificates,
  fieldForbidden,
  fieldInvalid,
  Metrics,
  serveWebhooks,
  silentLog,
  WebhookRegistration,
  Webhooks,
  webhookPermissions,
} from "@konverge/runtime";
import { defineKind, type ObjectOf, z } from "@konverge/schema";

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
type Model = ObjectOf<typeof Model>;

const service = { name: "models", namespace: "default" };

const judge = admissionWebhook(Model, {
  operations: ["CREATE", "UPDATE", "DELETE"],
  mutate(draft, { user }) {
    draft.metadata.labels = { ...draft.metadata.labels, "example.com/judged": "yes" };
    draft.spec.owner ??= user.username ?? "nobody";
  },
  validate(model, { old, operation, warn }) {
    if (operation === "DELETE") {
      if (model.spec.size > 5) throw new AdmissionDeniedError("models this large are kept");
      return [];
    }
    if (model.spec.size === 4) warn("four is an unlucky size");
    return [
      ...(model.spec.size < 0 ? [fieldInvalid("spec.size", model.spec.size, "must not be negative")] : []),
      ...(old && old.spec.size > model.spec.size ? [fieldForbidden("spec.size", "must not shrink")] : []),
    ];
  },
});

/** An embedded server that asks the webhooks in the same process. */
async function judged() {
  const clock = new VirtualClock();
  const metrics = new Metrics({ clock, process: false });
  const webhooks = new Webhooks({ admissions: [judge], conversions: [Model], clock, observers: [metrics] });
  const server = new ApiServer({ clock, callWebhook: webhooks.call });
  const warnings: string[] = [];
  const client = new Client(server.transport, { clock, onWarning: (message) => void warnings.push(message) });
  await client.create(Namespace, { metadata: { name: "default" } }).catch(() => {});
  await client.create(
    CustomResourceDefinition,
    Model.crd({ conversionWebhook: webhooks.converting({ service }) }) as never,
  );
  const registration = new WebhookRegistration({ client, name: "models", webhooks, creates: true });
  await registration.set({ service, caBundle: Buffer.from("ca").toString("base64") });
  return { clock, client, warnings, webhooks, metrics, registration };
}

const model = (name: string, spec: Partial<Model["spec"]>) =>
  Model.new({ metadata: { name, namespace: "default" }, spec });

test("a write is mutated by editing the object", async () => {
  const { client } = await judged();
  const made = await client.create(Model, model("a", { size: 2 }));
  assert.deepEqual(made.metadata.labels, { "example.com/judged": "yes" });
  assert.equal(typeof made.spec.owner, "string");
});

test("errors are reported field by field, and the old object is taken into account", async () => {
  const { client } = await judged();
  await assert.rejects(client.create(Model, model("a", { size: -1 })), (error: unknown) => {
    assert.ok(isInvalid(error));
    assert.match((error as ApiError).message, /spec\.size: Invalid value: -1: must not be negative/);
    return true;
  });
  await client.create(Model, model("a", { size: 3 }));
  await assert.rejects(
    client.patch(Model, "default/a", { merge: { spec: { size: 2 } } }),
    /spec\.size: Forbidden: must not shrink/,
  );
});

test("a denial prevents a deletion, a warning does not", async () => {
  const { client, warnings } = await judged();
  await client.create(Model, model("a", { size: 4 }));
  assert.deepEqual(warnings, ["four is an unlucky size"]);
  await client.patch(Model, "default/a", { merge: { spec: { size: 6 } } });
  await assert.rejects(client.delete(Model, "default/a"), /models this large are kept/);
});

test("versions are converted by the functions of the definition", async () => {
  const { client } = await judged();
  await client.create(Model, model("a", { size: 3 }));
  const old = await client.get(Model.atVersion("v1beta1"), "default/a");
  assert.deepEqual(old.spec, { replicas: 3 });
});

test("reviews are counted, by webhook and answer", async () => {
  const { client, metrics } = await judged();
  await client.create(Model, model("a", { size: 3 }));
  const text = await metrics.text();
  assert.match(
    text,
    /controller_runtime_webhook_requests_total\{webhook="\/mutate\/models\.ai\.example\.com",code="200"\} 1/,
  );
  assert.match(
    text,
    /controller_runtime_webhook_requests_in_flight\{webhook="\/validate\/models\.ai\.example\.com"\} 0/,
  );
});

test("configurations that are not installed are an error that says how to install them, and are not created", async () => {
  const { client, webhooks } = await judged();
  const registration = new WebhookRegistration({ client, name: "others", webhooks });
  await assert.rejects(
    registration.set({ service }),
    /the MutatingWebhookConfiguration others is not installed; apply the operator's manifests, .*konverge deploy/,
  );
  await registration.stop();
  await assert.rejects(client.get(MutatingWebhookConfiguration, "others"), /not found/);
});

test("a webhook that a newer version of an operator brings is registered once its manifests are applied", async () => {
  const { clock, client, registration, webhooks: earlier } = await judged();
  await registration.stop();
  const older = new WebhookRegistration({ client, name: "models", webhooks: earlier });
  await older.set({ service, caBundle: "Y2E=" });
  const other = admissionWebhook(ConfigMap, { validate: () => [] });
  const webhooks = new Webhooks({ admissions: [judge, other], conversions: [Model], clock });
  const newer = new WebhookRegistration({ client, name: "models", webhooks });
  await assert.rejects(
    newer.set({ service, caBundle: "bmV3" }),
    /the installed ValidatingWebhookConfiguration models has no webhook validate\.configmaps\.core; apply/,
  );
  await client.patch(ValidatingWebhookConfiguration, "models", {
    merge: { webhooks: webhooks.validating({ service }) } as never,
  });
  await newer.set({ service, caBundle: "bmV3" });
  const registered = async () =>
    (await client.get(ValidatingWebhookConfiguration, "models")).webhooks?.map(({ name, clientConfig }) => [
      name,
      clientConfig.caBundle,
    ]);
  const both = [
    ["validate.models.ai.example.com", "bmV3"],
    ["validate.configmaps.core", "bmV3"],
  ];
  assert.deepEqual(await registered(), both);
  await newer.stop();
  // The previous version, which still runs, leaves the webhook that it does not have.
  await clock.advance(30_000);
  assert.deepEqual((await registered())?.at(-1), both.at(-1));
  await older.stop();
});

test("webhooks take permission to get and patch what is registered, by name; to create it only as their developer", () => {
  const webhooks = new Webhooks({ admissions: [judge], conversions: [Model] });
  const registered = (registration?: "create" | "none") =>
    webhookPermissions(webhooks, { name: "models", namespace: "default", ...(registration && { registration }) })
      .filter(({ resource }) => resource !== "secrets")
      .map(({ verb, resource, name }) => [verb, resource, name].join(" "));
  const updated = [
    "get mutatingwebhookconfigurations models",
    "patch mutatingwebhookconfigurations models",
    "get validatingwebhookconfigurations models",
    "patch validatingwebhookconfigurations models",
    "get customresourcedefinitions models.ai.example.com",
    "patch customresourcedefinitions models.ai.example.com",
  ];
  assert.deepEqual(registered(), updated);
  assert.deepEqual(new Set(registered("create")).difference(new Set(updated)).size, 2);
  assert.deepEqual(webhookPermissions(webhooks, { name: "models", namespace: "default", registration: "none" }), []);
});

test("webhooks that another tool registers are served and written nowhere", async () => {
  const { client, webhooks } = await judged();
  const certificates = builtInCertificates(client, {
    hosts: ["models.default.svc"],
    secret: { name: "certs", namespace: "default" },
  });
  const place = { client, name: "injected", service, host: "127.0.0.1", port: 0 };
  await assert.rejects(serveWebhooks(webhooks, { ...place, registration: "none" }), /needs `certificates`/);
  await using hooks = await serveWebhooks(webhooks, { ...place, registration: "none", certificates });
  await hooks.refresh();
  await assert.rejects(client.get(ValidatingWebhookConfiguration, "injected"), /not found/);
});

test("a removed caBundle or conversion is restored", async () => {
  const { client, clock, registration } = await judged();
  await clock.advance(1_000);
  const kinds = [MutatingWebhookConfiguration, ValidatingWebhookConfiguration] as KindRef<KubeObject>[];
  for (const kind of kinds) {
    await client.patch(kind, "models", { json: [{ op: "remove", path: "/webhooks/0/clientConfig/caBundle" }] });
  }
  await client.patch(CustomResourceDefinition, "models.ai.example.com", {
    json: [{ op: "remove", path: "/spec/conversion/webhook/clientConfig/caBundle" }],
  });
  await clock.advance(10_000);
  for (const kind of kinds) {
    const { webhooks } = (await client.get(kind, "models")) as unknown as MutatingWebhookConfiguration;
    assert.equal(webhooks?.[0]?.clientConfig.caBundle, "Y2E=");
  }
  const crd = await client.get(CustomResourceDefinition, "models.ai.example.com");
  assert.equal(crd.spec.conversion?.webhook?.clientConfig?.caBundle, "Y2E=");
  await registration.remove();
  await assert.rejects(client.get(ValidatingWebhookConfiguration, "models"), /not found/);
});

test("a mistake in a webhook is the server's to judge, not an answer", async () => {
  const broken = admissionWebhook(Model, {
    validate: () => {
      throw new TypeError("oops");
    },
  });
  const webhooks = new Webhooks({ admissions: [broken] });
  const review = {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid: "1", operation: "CREATE", object: model("a", {}) },
  };
  const answer = await webhooks.transport({
    method: "POST",
    path: "/validate/models.ai.example.com?timeout=10s",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(review),
  });
  assert.equal(answer.status, 500);
  assert.equal(answer.body, "oops\n");
  const nowhere = await webhooks.transport({ method: "POST", path: "/nowhere", headers: {} });
  assert.equal(nowhere.status, 404);
});

test("what is no review of an API server is refused, and is no failure of the webhook", async () => {
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (fields: unknown) => void errors.push(fields) };
  const { transport } = new Webhooks({ admissions: [judge], conversions: [Model], log: log as never });
  const post = async (path: string, body: string) => {
    const headers = { "content-type": "application/json" };
    return (await transport({ method: "POST", path, headers, body })).status;
  };
  const [mutating, validating] = ["mutate", "validate"].map((part) => `/${part}/${judge.name}`);
  for (const path of ["/convert", mutating!, validating!]) {
    for (const request of [undefined, null, [], "x", {}, { uid: 1 }, { uid: "u", object: "x", objects: {} }]) {
      assert.equal(await post(path, JSON.stringify({ request })), 400, `${path} ${JSON.stringify(request)}`);
    }
    for (const body of ["null", "[]", "1", "{"]) assert.equal(await post(path, body), 400);
  }
  assert.deepEqual(errors, []);
});

test("replicas share certificates through a Secret, whichever creates them", async () => {
  const { client } = await judged();
  const secret = { name: "certs", namespace: "default" };
  const source = () => builtInCertificates(client, { hosts: ["models.default.svc"], secret })();
  const [one, two] = await Promise.all([source(), source()]);
  assert.deepEqual(one, two);
  assert.equal(Object.keys((await client.get(Secret, "default/certs")).data ?? {}).length, 4);
});

test("webhooks that move from a Service to a URL leave nothing of the old address behind", async () => {
  const { clock, client, registration } = await judged();
  const moved = registration.set({ url: "https://127.0.0.1:9443", caBundle: Buffer.from("ca").toString("base64") });
  await clock.advance(1);
  await moved;
  const validating = await client.get(ValidatingWebhookConfiguration, "models");
  assert.deepEqual(Object.keys(validating.webhooks![0]!.clientConfig).sort(), ["caBundle", "url"]);
  const { spec } = await client.get(CustomResourceDefinition, "models.ai.example.com");
  assert.deepEqual(Object.keys(spec.conversion!.webhook!.clientConfig!).sort(), ["caBundle", "url"]);
  await registration.stop();
});
