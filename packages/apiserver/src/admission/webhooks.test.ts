import assert from "node:assert/strict";
import { test } from "node:test";
import { type AnyObject, readText, VirtualClock } from "@konverge/core";
import { ApiServer } from "../server.ts";
import type { CallWebhook } from "../webhook-call.ts";

interface Review {
  request: { uid: string; name: string; operation: string; object: AnyObject; dryRun: boolean };
}

const answer = ({ request }: Review, response: object) => ({
  kind: "AdmissionReview",
  apiVersion: "admission.k8s.io/v1",
  response: { uid: request.uid, allowed: true, ...response },
});

const patch = (...operations: object[]) => ({
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

const label = (name: string, value: string) => ({ op: "add", path: `/metadata/labels/${name}`, value });

async function stage(hooks: Record<string, (review: Review) => object | Promise<object>>, more: object = {}) {
  const asked: string[] = [];
  const callWebhook: CallWebhook = async ({ url }, review) => {
    const name = url!.slice("https://".length);
    asked.push(name);
    return hooks[name]!(review as Review);
  };
  const server = new ApiServer({ clock: new VirtualClock(), callWebhook });
  const send = async (method: string, path: string, body?: object) => {
    const headers = { "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const { status, body: text, headers: got } = await server.transport({ method, path, headers, ...sent });
    return { status, body: JSON.parse(await readText(text)), warnings: got["warning"] };
  };
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }];
  const configure = (kind: "mutating" | "validating", names: string[]) =>
    send("POST", `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`, {
      metadata: { name: kind },
      webhooks: names.map((name) => ({
        name: `${name}.example.com`,
        clientConfig: { url: `https://${name}` },
        rules,
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        ...more,
      })),
    });
  const create = (name = "a", query = "") =>
    send("POST", `/api/v1/namespaces/default/configmaps${query}`, { metadata: { name, labels: { by: "user" } } });
  return { asked, send, configure, create };
}

test("a mutating webhook's patch is applied, and a validating one sees the result", async () => {
  let reviewed: AnyObject | undefined;
  const s = await stage({
    a: (review) => answer(review, patch(label("patched", "yes"))),
    b: (review) => {
      reviewed = review.request.object;
      return answer(review, { warnings: ["take care"] });
    },
  });
  await s.configure("mutating", ["a"]);
  await s.configure("validating", ["b"]);
  const { status, body, warnings } = await s.create();
  assert.equal(status, 201);
  assert.deepEqual(body.metadata.labels, { by: "user", patched: "yes" });
  assert.deepEqual(reviewed!.metadata.labels, { by: "user", patched: "yes" });
  assert.deepEqual(warnings, ['299 - "take care"']);
});

test("a refusal is passed on in the webhook's words", async () => {
  const status = { message: "not here", code: 409, reason: "Conflict" };
  const s = await stage({ a: (review) => answer(review, { allowed: false, status }) });
  await s.configure("validating", ["a"]);
  const { status: code, body } = await s.create();
  assert.equal(code, 409);
  assert.equal(body.message, 'admission webhook "a.example.com" denied the request: not here');
  assert.equal(body.reason, "Conflict");
});

test("a refusal without a word is a 400", async () => {
  const s = await stage({ a: (review) => answer(review, { allowed: false }) });
  await s.configure("validating", ["a"]);
  const { status, body } = await s.create();
  assert.equal(status, 400);
  assert.equal(body.message, 'admission webhook "a.example.com" denied the request without explanation');
});

test("a webhook that cannot be reached stops the write, unless it may fail", async () => {
  const broken = { a: () => Promise.reject(new Error("connection refused")) };
  const strict = await stage(broken);
  await strict.configure("validating", ["a"]);
  const { status, body } = await strict.create();
  assert.equal(status, 500);
  assert.equal(
    body.message,
    'Internal error occurred: failed calling webhook "a.example.com": failed to call webhook: connection refused',
  );
  const lenient = await stage(broken, { failurePolicy: "Ignore" });
  await lenient.configure("mutating", ["a"]);
  assert.equal((await lenient.create()).status, 201);
});

test("a webhook is asked again when a later one changed the object, and it wants that", async () => {
  const s = await stage(
    {
      a: (review) => answer(review, {}),
      b: (review) => answer(review, patch(label("b", "1"))),
    },
    { reinvocationPolicy: "IfNeeded" },
  );
  await s.configure("mutating", ["a", "b"]);
  await s.create();
  assert.deepEqual(s.asked, ["a", "b", "a"]);
});

test("match conditions and selectors decide whether a webhook is asked at all", async () => {
  const never = { a: () => assert.fail("asked") };
  const byCondition = await stage(never, {
    matchConditions: [{ name: "other", expression: "object.metadata.name != 'a'" }],
  });
  await byCondition.configure("validating", ["a"]);
  assert.equal((await byCondition.create()).status, 201);
  const byLabel = await stage(never, { objectSelector: { matchLabels: { by: "robot" } } });
  await byLabel.configure("validating", ["a"]);
  assert.equal((await byLabel.create()).status, 201);
  const byNamespace = await stage(never, { namespaceSelector: { matchLabels: { strict: "yes" } } });
  await byNamespace.configure("validating", ["a"]);
  assert.equal((await byNamespace.create()).status, 201);
});

test("a webhook with side effects that dry runs would have cannot be registered", async () => {
  const s = await stage({ a: () => assert.fail("asked") }, { sideEffects: "Unknown" });
  const { status, body } = await s.configure("validating", ["a"]);
  assert.equal(status, 422);
  assert.match(body.message, /sideEffects: Unsupported value: "Unknown": supported values: "None", "NoneOnDryRun"/);
});

test("deletes are reviewed with the object that goes", async () => {
  const operations: string[] = [];
  const s = await stage({
    a: (review) => {
      operations.push(`${review.request.operation} ${review.request.name}`);
      return answer(review, { allowed: review.request.operation !== "DELETE" });
    },
  });
  await s.configure("validating", ["a"]);
  await s.create();
  assert.equal((await s.send("DELETE", "/api/v1/namespaces/default/configmaps/a")).status, 400);
  assert.deepEqual(operations, ["CREATE a", "DELETE a"]);
});

test("answers that are no answers are refused", async () => {
  const s = await stage({
    a: () => ({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", response: { uid: "x" } }),
  });
  await s.configure("validating", ["a"]);
  assert.match((await s.create()).body.message, /expected response.uid=".+", got "x"$/);
});

test("a connection to a pod is judged by what it asks for", async () => {
  let reviewed: Review["request"] | undefined;
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CONNECT"], resources: ["pods/attach"] }];
  const s = await stage(
    {
      a: (review) => {
        reviewed = review.request;
        return answer(review, { allowed: false, status: { message: "attach is not allowed" } });
      },
    },
    { rules },
  );
  await s.configure("validating", ["a"]);
  const spec = { nodeName: "one", containers: [{ name: "c", image: "nginx" }] };
  await s.send("POST", "/api/v1/namespaces/default/pods", { metadata: { name: "p" }, spec });
  const { status, body } = await s.send("GET", "/api/v1/namespaces/default/pods/p/attach?stdin=true");
  assert.equal(status, 400);
  assert.match(body.message, /attach is not allowed/);
  assert.equal(reviewed?.operation, "CONNECT");
  assert.deepEqual(reviewed?.object, { kind: "PodAttachOptions", apiVersion: "v1", stdin: true, container: "c" });
});

const REVIEWS = [
  {
    apiGroups: ["authentication.k8s.io", "authorization.k8s.io"],
    apiVersions: ["*"],
    operations: ["*"],
    resources: ["*"],
  },
];
const accessReview = (name: string) => ({
  spec: { user: name, resourceAttributes: { verb: "get", resource: "pods", namespace: "default" } },
});
const ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

test("reviews pass webhooks: what a mutating one changes is answered, and a validating one can refuse them", async () => {
  const user = (value: string) => patch({ op: "replace", path: "/spec/user", value });
  const s = await stage(
    {
      a: (review) => answer(review, user("carol")),
      b: (review) => answer(review, { allowed: review.request.object["kind"] !== "TokenReview" }),
    },
    { rules: REVIEWS },
  );
  await s.configure("mutating", ["a"]);
  await s.configure("validating", ["b"]);
  const { status, body } = await s.send("POST", ACCESS_REVIEWS, accessReview("bob"));
  assert.deepEqual([status, body.spec.user, body.status.allowed], [201, "carol", false]);
  assert.deepEqual(s.asked, ["a", "b"]);
  await s.send("DELETE", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/mutating");
  const token = await s.send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { spec: { token: "x" } });
  assert.deepEqual(
    [token.status, token.body.message],
    [400, 'admission webhook "b.example.com" denied the request without explanation'],
  );
});

test("an invalid review is refused before validating webhooks see it", async () => {
  const s = await stage({ b: (review) => answer(review, {}) }, { rules: REVIEWS });
  await s.configure("validating", ["b"]);
  const { status } = await s.send("POST", ACCESS_REVIEWS, { spec: {} });
  assert.deepEqual([status, s.asked], [422, []]);
});

test("policies are not asked about reviews", async () => {
  const s = await stage({});
  const registration = "/apis/admissionregistration.k8s.io/v1";
  const policy = {
    matchConstraints: { resourceRules: [{ ...REVIEWS[0], operations: ["CREATE"] }] },
    validations: [{ expression: "false" }],
  };
  const made = await s.send("POST", `${registration}/validatingadmissionpolicies`, {
    metadata: { name: "none" },
    spec: policy,
  });
  assert.equal(made.status, 201);
  const spec = { policyName: "none", validationActions: ["Deny"] };
  await s.send("POST", `${registration}/validatingadmissionpolicybindings`, { metadata: { name: "none" }, spec });
  assert.equal((await s.send("POST", ACCESS_REVIEWS, accessReview("bob"))).status, 201);
});
