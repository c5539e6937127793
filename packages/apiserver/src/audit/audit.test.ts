import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiRequest, type ApiResponse, VirtualClock } from "@konverge/core";
import { type Attributes, pathAttributes, resourceAttributes } from "../auth/attributes.ts";
import type { User } from "../auth/user.ts";
import { requestInfo } from "../http/request-info.ts";
import { AuditLog } from "./audit-log.ts";
import type { AuditEvent } from "./event.ts";
import { type AuditPolicy, auditDecision, parseAuditPolicy } from "./policy.ts";

const jane: User = { name: "jane", groups: ["devs", "system:authenticated"] };
const peer = { address: "127.0.0.1" };

function logged(policy: AuditPolicy, request: Partial<ApiRequest> & { method: string; path: string }) {
  const lines: string[] = [];
  const log = new AuditLog({ policy, clock: new VirtualClock(), sink: { write: (line) => lines.push(line) } });
  const full: ApiRequest = { headers: { "content-type": "application/json" }, ...request };
  const begin = (user: User | undefined = jane) => log.begin(full, requestInfo(full), { user, peer });
  const events = () => lines.map((line) => JSON.parse(line) as AuditEvent);
  return { begin, events };
}
const all = (level: AuditPolicy["rules"][number]["level"]): AuditPolicy => ({ rules: [{ level }] });
const json = (status: number, value: object): ApiResponse => ({
  status,
  headers: { "content-type": "application/json" },
  body: `${JSON.stringify(value)}\n`,
});
const secret = { kind: "Secret", metadata: { name: "s", uid: "u" }, data: { password: "aHVudGVyMg==" } };

test("a request at level Metadata leaves who, what, when and how it ended, and nothing of any body", () => {
  const { begin, events } = logged(all("Metadata"), {
    method: "POST",
    path: "/api/v1/namespaces/a/secrets?dryRun=All",
    body: JSON.stringify(secret),
    headers: { "content-type": "application/json", "user-agent": "test/1", "x-forwarded-for": "10.0.0.1, nonsense" },
  });
  const audited = begin()!;
  audited.authorized(true, "RBAC: allowed");
  audited.finish(json(201, secret));
  const common = {
    kind: "Event",
    apiVersion: "audit.k8s.io/v1",
    level: "Metadata",
    auditID: audited.id,
    requestURI: "/api/v1/namespaces/a/secrets?dryRun=All",
    verb: "create",
    user: { username: "jane", groups: ["devs", "system:authenticated"] },
    sourceIPs: ["10.0.0.1", "127.0.0.1"],
    userAgent: "test/1",
    requestReceivedTimestamp: "2026-01-01T00:00:00.000000Z",
    stageTimestamp: "2026-01-01T00:00:00.000000Z",
  };
  assert.deepEqual(events(), [
    { ...common, stage: "RequestReceived", objectRef: { resource: "secrets", namespace: "a", apiVersion: "v1" } },
    {
      ...common,
      stage: "ResponseComplete",
      objectRef: { resource: "secrets", namespace: "a", name: "s", uid: "u", apiVersion: "v1" },
      responseStatus: { metadata: {}, code: 201 },
      annotations: { "authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "RBAC: allowed" },
    },
  ]);
});

test("level Request adds the request's body, RequestResponse the answer's as well", () => {
  const request = { method: "PUT", path: "/api/v1/namespaces/a/secrets/s", body: JSON.stringify(secret) };
  const bodies = (level: "Request" | "RequestResponse", allowed = true) => {
    const { begin, events } = logged(all(level), request);
    const audited = begin()!;
    audited.authorized(allowed, "");
    audited.finish(json(200, { ...secret, answered: true }));
    return events().map(({ requestObject, responseObject }) => [requestObject, responseObject]);
  };
  assert.deepEqual(bodies("Request"), [
    [undefined, undefined],
    [secret, undefined],
  ]);
  assert.deepEqual(bodies("RequestResponse")[1], [secret, { ...secret, answered: true }]);
  assert.deepEqual(bodies("Request", false)[1], [undefined, undefined], "what was refused was never read");
});

test("an error is logged at every level", () => {
  const { begin, events } = logged(all("Metadata"), { method: "GET", path: "/api/v1/namespaces/a/pods/p" });
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "gone",
    reason: "NotFound",
    code: 404,
  };
  begin()!.finish(json(404, status));
  const { kind: _, apiVersion: __, ...rest } = status;
  assert.deepEqual(events()[1]?.responseStatus, rest);
  assert.equal(events()[1]?.responseObject, undefined);
});

test("managed fields can be left out, also of lists", () => {
  const policy: AuditPolicy = { rules: [{ level: "RequestResponse" }], omitManagedFields: true };
  const { begin, events } = logged(policy, { method: "GET", path: "/api/v1/pods" });
  const item = (more: object) => ({ metadata: { name: "p", ...more } });
  begin()!.finish(json(200, { kind: "PodList", metadata: {}, items: [item({ managedFields: [] })] }));
  assert.deepEqual(events()[1]?.responseObject, { kind: "PodList", metadata: {}, items: [item({})] });
});

test("a watch is written when it starts and when it ends, also when it is abandoned", async () => {
  for (const abandon of [false, true]) {
    const { begin, events } = logged(all("RequestResponse"), { method: "GET", path: "/api/v1/pods?watch=1" });
    async function* lines() {
      yield "one\n";
      yield "two\n";
    }
    const { body } = begin()!.finish({ status: 200, headers: {}, body: lines() });
    assert.deepEqual(
      events().map(({ stage }) => stage),
      ["RequestReceived", "ResponseStarted"],
    );
    for await (const _ of body as AsyncIterable<string>) if (abandon) break;
    assert.deepEqual(
      events().map(({ stage }) => stage),
      ["RequestReceived", "ResponseStarted", "ResponseComplete"],
    );
  }
});

test("failed authentication is one event without a user; a failure of the server is a Panic", () => {
  const refused = logged(all("Metadata"), { method: "GET", path: "/api" });
  const unauthorized = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "Unauthorized",
    code: 401,
  };
  const lines: string[] = [];
  const sink = { write: (line: string) => lines.push(line) };
  const audited = new AuditLog({ policy: all("Metadata"), clock: new VirtualClock(), sink });
  const request = { method: "GET", path: "/api", headers: { "audit-id": "given" } };
  audited.begin(request, requestInfo(request), { user: undefined, peer })!.finish(json(401, unauthorized));
  const [event, ...others] = lines.map((line) => JSON.parse(line) as AuditEvent);
  assert.deepEqual(others, []);
  assert.equal(event?.auditID, "given");
  assert.equal(event?.stage, "ResponseStarted");
  assert.deepEqual(event?.user, {});

  refused.begin()!.panic(new Error("oops"));
  assert.partialDeepStrictEqual(refused.events()[1], {
    stage: "Panic",
    responseStatus: { code: 500, message: "APIServer panic'd: oops" },
  });
});

test("impersonation shows both users", () => {
  const { begin, events } = logged(all("Metadata"), { method: "GET", path: "/api/v1/pods" });
  const audited = begin()!;
  audited.impersonating({ name: "bob", groups: [] }, "impersonate:user-info");
  audited.finish(json(200, {}));
  assert.equal(events()[1]?.user.username, "jane");
  assert.deepEqual(events()[1]?.impersonatedUser, { username: "bob" });
  assert.deepEqual(events()[1]?.authenticationMetadata, { impersonationConstraint: "impersonate:user-info" });
});

test("the first rule that matches decides", () => {
  const policy: AuditPolicy = {
    rules: [
      {
        level: "None",
        users: ["system:kube-proxy"],
        verbs: ["watch"],
        resources: [{ group: "", resources: ["endpoints"] }],
      },
      { level: "None", nonResourceURLs: ["/healthz*", "/version"] },
      { level: "Metadata", resources: [{ group: "", resources: ["secrets", "pods/*"] }] },
      { level: "Request", namespaces: ["kube-system"], userGroups: ["system:nodes"] },
      {
        level: "RequestResponse",
        resources: [{ group: "apps" }, { group: "batch", resources: ["jobs"], resourceNames: ["x"] }],
      },
      { level: "Metadata", resources: [{ group: "*", resources: ["*/scale"] }], omitStages: ["RequestReceived"] },
    ],
  };
  const level = (action: Attributes, user: User = jane) => auditDecision(policy, user, action).level;
  const on = (resource: string, more: Partial<Attributes> = {}) => resourceAttributes("get", { resource, ...more });
  const proxy: User = { name: "system:kube-proxy", groups: [] };
  assert.equal(level({ ...on("endpoints"), verb: "watch" }, proxy), "None");
  assert.equal(level(on("secrets")), "Metadata");
  assert.equal(level(on("secrets", { subresource: "x" })), "None");
  assert.equal(level(on("pods", { subresource: "log" })), "Metadata");
  assert.equal(level(on("configmaps", { namespace: "kube-system" })), "None");
  assert.equal(
    level(on("configmaps", { namespace: "kube-system" }), { name: "n", groups: ["system:nodes"] }),
    "Request",
  );
  assert.equal(level(on("anything", { group: "apps" })), "RequestResponse");
  assert.equal(level(on("jobs", { group: "batch", name: "x" })), "RequestResponse");
  assert.equal(level(on("jobs", { group: "batch", name: "y" })), "None");
  assert.equal(level(on("widgets", { group: "example.com", subresource: "scale" })), "Metadata");
  assert.equal(level(pathAttributes("get", "/healthz/etcd")), "None");
  assert.equal(level(pathAttributes("get", "/metrics")), "None");
  assert.ok(auditDecision(policy, jane, on("w", { subresource: "scale" })).omitStages.has("RequestReceived"));
});

test("a policy that makes no sense is refused with all its faults", () => {
  const rules = [
    { level: "Everything" },
    { level: "None", nonResourceURLs: ["healthz", "/a*b"], resources: [{ group: "" }] },
    { level: "None", omitStages: ["Never"] },
  ];
  assert.throws(
    () => parseAuditPolicy({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules }),
    /rules\[0\]\.level: "Everything" .*rules\[1\]\.nonResourceURLs: cannot apply.*healthz must start.*"\/a\*b|rules\[2\]/,
  );
  assert.throws(() => parseAuditPolicy({ rules: [] }), /apiVersion: audit\.k8s\.io\/v1.*at least one/);
  assert.throws(() => parseAuditPolicy(null), /kind: Policy/);
});

test("a client with very many forwarded addresses is logged in linear time", { timeout: 20_000 }, () => {
  const addresses = Array.from({ length: 120_000 }, (_, i) => `1.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  const headers = { "x-real-ip": [...addresses, "10.0.0.9", addresses[0]].join(), "x-forwarded-for": "10.0.0.9" };
  const { begin, events } = logged(all("Metadata"), { method: "GET", path: "/healthz", headers });
  begin();
  const { sourceIPs } = events()[0]!;
  assert.deepEqual([sourceIPs?.length, sourceIPs?.[0], sourceIPs?.at(-1)], [120_002, "10.0.0.9", "127.0.0.1"]);
});
