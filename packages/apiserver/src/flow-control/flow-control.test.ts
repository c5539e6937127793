import assert from "node:assert/strict";
import { test } from "node:test";
import { type HeaderMap, readText, VirtualClock } from "@konverge/core";
import { ApiServer } from "../server.ts";
import { dealtHand, PriorityLevel } from "./priority-level.ts";

const FLOW = "/apis/flowcontrol.apiserver.k8s.io/v1";
const SCHEMA_HEADER = "x-kubernetes-pf-flowschema-uid";
const LEVEL_HEADER = "x-kubernetes-pf-prioritylevel-uid";

/** A server with one webhook that answers when the test says so: until then, writes of ConfigMaps are in progress. */
async function setup() {
  const clock = new VirtualClock();
  const held: (() => void)[] = [];
  const tokens = [
    { token: "root", user: { name: "root", groups: ["system:masters"] } },
    { token: "jane", user: { name: "jane", groups: [] } },
  ];
  const server = new ApiServer({
    clock,
    access: { tokens },
    callWebhook: async (_config, review) => {
      await new Promise<void>((resolve) => held.push(resolve));
      const { uid } = (review as { request: { uid: string } }).request;
      return { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", response: { uid, allowed: true } };
    },
  });
  const send = async (token: string | undefined, method: string, path: string, body?: object) => {
    const headers: HeaderMap = { "content-type": "application/json" };
    if (token) headers["authorization"] = `Bearer ${token}`;
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await server.guard.handle({ method, path, headers, ...sent }, { address: "10.1.2.3" });
    return { status: answer.status, headers: answer.headers, text: await readText(answer.body) };
  };
  const uidOf = async (path: string) => JSON.parse((await send("root", "GET", `${FLOW}/${path}`)).text).metadata.uid;
  const level = (limitResponse: object) =>
    send("root", "POST", `${FLOW}/prioritylevelconfigurations`, {
      metadata: { name: "few" },
      spec: { type: "Limited", limited: { nominalConcurrencyShares: 1, limitResponse } },
    });
  await send("root", "POST", `${FLOW}/flowschemas`, {
    metadata: { name: "jane" },
    spec: {
      priorityLevelConfiguration: { name: "few" },
      matchingPrecedence: 50,
      rules: [
        {
          subjects: [{ kind: "User", user: { name: "jane" } }],
          resourceRules: [{ verbs: ["create"], apiGroups: [""], resources: ["configmaps"], namespaces: ["*"] }],
        },
      ],
    },
  });
  await send("root", "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "jane" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "jane" }],
  });
  await send("root", "POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
    metadata: { name: "slow" },
    webhooks: [
      {
        name: "slow.example.com",
        clientConfig: { url: "https://slow" },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
        timeoutSeconds: 30,
      },
    ],
  });
  let count = 0;
  const create = () =>
    send("jane", "POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: `c${count++}` } });
  const letGo = () => {
    for (const resolve of held.splice(0)) resolve();
  };
  return { clock, send, uidOf, level, create, letGo };
}

/** Of 600 seats, one of 246 shares has this many. */
const SEATS = 3;

test("answers name the flow schema and the priority level, also those of requests that are forbidden", async () => {
  const { send, uidOf } = await setup();
  const named = async (token: string | undefined, path: string) => {
    const { headers } = await send(token, "GET", path);
    return [headers[SCHEMA_HEADER], headers[LEVEL_HEADER]];
  };
  const uids = async (schema: string, level: string) => [
    await uidOf(`flowschemas/${schema}`),
    await uidOf(`prioritylevelconfigurations/${level}`),
  ];
  assert.deepEqual(await named("root", "/api/v1/pods"), await uids("exempt", "exempt"));
  assert.deepEqual(await named("jane", "/api/v1/pods"), await uids("global-default", "global-default"));
  assert.deepEqual(await named(undefined, "/healthz"), await uids("probes", "exempt"));
  assert.deepEqual(await named(undefined, "/api/v1/secrets"), await uids("global-default", "global-default"));
  assert.deepEqual(await named("wrong", "/api/v1/pods"), [undefined, undefined]);
});

test("a level that rejects answers 429 as soon as its seats are taken", async () => {
  const { level, create, letGo, uidOf, clock } = await setup();
  await level({ type: "Reject" });
  const running = Array.from({ length: SEATS }, create);
  const refused = await create();
  assert.equal(refused.status, 429);
  assert.equal(refused.text, "Too many requests, please try again later.\n");
  assert.equal(refused.headers["retry-after"], "1");
  assert.equal(refused.headers[SCHEMA_HEADER], await uidOf("flowschemas/jane"));
  await clock.advance(1);
  letGo();
  assert.deepEqual(
    (await Promise.all(running)).map(({ status }) => status),
    [201, 201, 201],
  );
  const next = create();
  await clock.advance(1);
  letGo();
  assert.equal((await next).status, 201);
});

test("a level with queues makes requests wait, and refuses those that find them full or wait too long", async () => {
  const { level, create, letGo, clock } = await setup();
  await level({ type: "Queue", queuing: { queues: 1, handSize: 1, queueLengthLimit: 2 } });
  const running = Array.from({ length: SEATS }, create);
  const waiting = [create(), create()];
  assert.equal((await create()).status, 429);
  await clock.advance(1);
  letGo();
  await Promise.all(running);
  await clock.advance(1);
  letGo();
  assert.deepEqual(
    (await Promise.all(waiting)).map(({ status }) => status),
    [201, 201],
  );
  const late = Array.from({ length: SEATS + 1 }, create);
  await clock.advance(15_000);
  assert.equal((await late[SEATS]!).status, 429);
});

test("a flow with many requests does not keep another one waiting", async () => {
  const clock = new VirtualClock();
  const queuing = { queues: 64, handSize: 8, queueLengthLimit: 50 };
  const level = new PriorityLevel(clock, { seats: 1, queuing });
  const order: string[] = [];
  const request = async (flow: string) => {
    const release = await level.seat(flow);
    assert.ok(typeof release === "function");
    order.push(flow);
    // The next one gets the seat when this request is answered.
    clock.post(release, "answered");
  };
  const elephant = Array.from({ length: 300 }, () => request("elephant"));
  const mouse = Array.from({ length: 10 }, () => request("mouse"));
  await clock.advance(1);
  await Promise.all([...elephant, ...mouse]);
  // The elephant waits in each of the eight queues of its hand, and the queues take turns.
  const served = order.flatMap((flow, index) => (flow === "mouse" ? [index] : []));
  assert.equal(served.length, 10);
  for (const [turn, index] of served.entries())
    assert.ok(index <= (turn + 1) * 9, `mouse ${turn} was served at ${index}`);
});

test("metrics report the seats of priority levels, and what was dispatched and rejected", async () => {
  const { level, create, letGo, send, clock } = await setup();
  await level({ type: "Reject" });
  const running = Array.from({ length: SEATS }, create);
  await create();
  await clock.advance(1);
  letGo();
  await Promise.all(running);
  const { text } = await send("root", "GET", "/metrics");
  const lines = text.split("\n").filter((line) => line.includes('priority_level="few"'));
  const labels = 'flow_schema="jane",priority_level="few"';
  assert.deepEqual(lines, [
    `apiserver_flowcontrol_nominal_limit_seats{priority_level="few"} ${SEATS}`,
    `apiserver_flowcontrol_dispatched_requests_total{${labels}} ${SEATS}`,
    `apiserver_flowcontrol_rejected_requests_total{${labels},reason="concurrency-limit"} 1`,
  ]);
});

test("a flow has a hand of different queues, and always the same", () => {
  const hand = dealtHand("flow", 64, 8);
  assert.equal(new Set(hand).size, 8);
  assert.ok(hand.every((queue) => queue >= 0 && queue < 64));
  assert.deepEqual(dealtHand("flow", 64, 8), hand);
  assert.notDeepEqual(dealtHand("other", 64, 8), hand);
});
