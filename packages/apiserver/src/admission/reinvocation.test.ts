import assert from "node:assert/strict";
import { test } from "node:test";
import { type AnyObject, readText, VirtualClock } from "@konverge/core";
import { ApiServer } from "../server.ts";
import type { CallWebhook } from "../webhook-call.ts";

const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";

/** What a webhook adds to an object, as JSON Patch operations. */
type Patcher = (object: AnyObject) => object[];

function setup(patchers: Record<string, Patcher>, enable: string[] = []) {
  const called: string[] = [];
  const callWebhook: CallWebhook = async ({ url }, review) => {
    const name = url!.slice("https://".length);
    called.push(name);
    const { uid, object } = (review as { request: { uid: string; object: AnyObject } }).request;
    const operations = patchers[name]!(object);
    const patch = operations.length > 0 && {
      patchType: "JSONPatch",
      patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
    };
    return {
      kind: "AdmissionReview",
      apiVersion: "admission.k8s.io/v1",
      response: { uid, allowed: true, ...patch },
    };
  };
  const server = new ApiServer({ clock: new VirtualClock(), callWebhook, admission: { enable } });
  const post = async (path: string, body: object) => {
    const headers = { "content-type": "application/json" };
    const answer = await server.transport({ method: "POST", path, headers, body: JSON.stringify(body) });
    const object = JSON.parse(await readText(answer.body));
    assert.equal(answer.status, 201, JSON.stringify(object));
    return object;
  };
  const webhook = (name: string, reinvocationPolicy = "Never", resource = "configmaps") => ({
    name: `${name}.example.com`,
    clientConfig: { url: `https://${name}` },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: [resource] }],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    reinvocationPolicy,
  });
  const register = (...webhooks: object[]) =>
    post(`${REGISTRATION}/mutatingwebhookconfigurations`, { metadata: { name: "hooks" }, webhooks });
  const policy = async (name: string, reinvocationPolicy: string, expression: string) => {
    await post(`${REGISTRATION}/mutatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        reinvocationPolicy,
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
        },
        mutations: [{ patchType: "JSONPatch", jsonPatch: { expression } }],
      },
    });
    await post(`${REGISTRATION}/mutatingadmissionpolicybindings`, { metadata: { name }, spec: { policyName: name } });
  };
  const configMap = (data: Record<string, string> = { a: "" }) =>
    post("/api/v1/namespaces/default/configmaps", { metadata: { name: "a" }, data });
  return { called, post, webhook, register, policy, configMap };
}

const add = (key: string, value = ""): object => ({ op: "add", path: `/data/${key}`, value });

test("a container that a webhook injects gets the namespace's default resources and the service account's token", async () => {
  const s = setup(
    { inject: () => [{ op: "add", path: "/spec/containers/-", value: { name: "sidecar", image: "proxy" } }] },
    ["ServiceAccount"],
  );
  await s.post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } });
  await s.post("/api/v1/namespaces/default/limitranges", {
    metadata: { name: "limits" },
    spec: { limits: [{ type: "Container", default: { cpu: "200m" }, defaultRequest: { cpu: "100m" } }] },
  });
  await s.register(s.webhook("inject", "Never", "pods"));
  const { spec } = await s.post("/api/v1/namespaces/default/pods", {
    metadata: { name: "p" },
    spec: { containers: [{ name: "c", image: "app" }] },
  });
  assert.deepEqual(s.called, ["inject"]);
  for (const { resources, volumeMounts } of spec.containers) {
    assert.deepEqual(resources, { limits: { cpu: "200m" }, requests: { cpu: "100m" } });
    assert.equal(volumeMounts[0].mountPath, "/var/run/secrets/kubernetes.io/serviceaccount");
  }
  assert.equal(spec.containers.length, 2);
  assert.equal(spec.volumes.length, 1);
});

test("webhooks that were called before a change are called again, if IfNeeded", async () => {
  const s = setup({ first: () => [], never: () => [], changes: () => [add("b")], last: () => [] });
  await s.register(
    s.webhook("first", "IfNeeded"),
    s.webhook("never"),
    s.webhook("changes", "IfNeeded"),
    s.webhook("last", "IfNeeded"),
  );
  await s.configMap();
  assert.deepEqual(s.called, ["first", "never", "changes", "last", "first"]);
});

test("a patch that changes nothing calls nothing again", async () => {
  const s = setup({ first: () => [], same: () => [{ op: "replace", path: "/data/a", value: "" }] });
  await s.register(s.webhook("first", "IfNeeded"), s.webhook("same", "IfNeeded"));
  await s.configMap();
  assert.deepEqual(s.called, ["first", "same"]);
});

test("a policy runs again after a webhook changed the object, if IfNeeded", async () => {
  const s = setup({ changes: () => [add("b")] });
  const count = "[JSONPatch{op: 'add', path: '/data/KEY', value: object.data['KEY'] + 'x'}]";
  await s.policy("needed", "IfNeeded", count.replaceAll("KEY", "needed"));
  await s.policy("never", "Never", count.replaceAll("KEY", "never"));
  await s.register(s.webhook("changes"));
  const { data } = await s.configMap({ needed: "", never: "" });
  assert.deepEqual(data, { b: "", needed: "xx", never: "x" });
});

test("a webhook is called again after a policy changed the object in the second pass, if IfNeeded", async () => {
  const s = setup({ changes: ({ data }) => ((data as object) && "b" in (data as object) ? [] : [add("b")]) });
  await s.policy("follows", "IfNeeded", "'b' in object.data ? [JSONPatch{op: 'add', path: '/data/c', value: ''}] : []");
  await s.register(s.webhook("changes", "IfNeeded"));
  const { data } = await s.configMap();
  assert.deepEqual(data, { a: "", b: "", c: "" });
  assert.deepEqual(s.called, ["changes", "changes"]);
});

test("a webhook that does not match the object at first is not called in the second pass", async () => {
  const s = setup({
    selected: () => [],
    labels: () => [{ op: "add", path: "/metadata/labels", value: { on: "yes" } }],
  });
  await s.register(
    { ...s.webhook("selected", "IfNeeded"), objectSelector: { matchLabels: { on: "yes" } } },
    s.webhook("labels"),
  );
  await s.configMap();
  assert.deepEqual(s.called, ["labels"]);
});
