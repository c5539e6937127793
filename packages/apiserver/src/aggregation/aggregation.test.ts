import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiRequest, readText, VirtualClock } from "@konverge/core";
import { ApiServer } from "../server.ts";
import type { ExtensionTarget, FrontProxy } from "./extension-call.ts";

const GROUP = "metrics.example.com";
const SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices";
const NAME = `v1.${GROUP}`;
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const crd = (group: string, versions = ["v1"]) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `samples.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural: "samples", singular: "sample", kind: "Sample", listKind: "SampleList" },
    versions: versions.map((name, index) => ({
      name,
      served: true,
      storage: index === 0,
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    })),
  },
});

/** A client of a server, with JSON in both directions. */
function clientOf(server: ApiServer) {
  return async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await server.transport({
      method,
      path,
      headers: { "content-type": "application/json", ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await readText(response.body);
    const json = () => JSON.parse(text);
    return { status: response.status, text, json, headers: response.headers };
  };
}

/** A server, and another one that serves a group behind it: an API server as well, whose group is a CRD. */
async function stage(options: { frontProxy?: FrontProxy } = {}) {
  const clock = new VirtualClock();
  const extension = new ApiServer({ clock });
  await clientOf(extension)("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd(GROUP));
  const calls: { target: ExtensionTarget; request: ApiRequest }[] = [];
  let failure: string | undefined;
  const call = async (target: ExtensionTarget, request: ApiRequest) => {
    calls.push({ target, request });
    if (failure) throw new Error(failure);
    return extension.transport(request);
  };
  const server = new ApiServer({ clock, aggregation: { call, ...options } });
  const send = clientOf(server);
  const condition = async () => {
    await clock.advance(0);
    const { status } = (await send("GET", `${SERVICES}/${NAME}`)).json();
    const { lastTransitionTime: _, ...rest } = status.conditions?.[0] ?? {};
    return rest;
  };
  const register = (spec: object = {}) =>
    send("POST", SERVICES, {
      metadata: { name: NAME },
      spec: {
        group: GROUP,
        version: "v1",
        groupPriorityMinimum: 2000,
        versionPriority: 10,
        service: { namespace: "default", name: "extension", port: 8443 },
        ...spec,
      },
    });
  const point = (spec: object) =>
    send("POST", "/api/v1/namespaces/default/services", { metadata: { name: "extension" }, spec });
  const ready = async () => {
    await register();
    await point({ type: "ExternalName", externalName: "localhost" });
    assert.equal((await condition()).status, "True");
    calls.length = 0;
  };
  return { clock, server, send, condition, register, point, ready, calls, leave: (why?: string) => (failure = why) };
}

test("an APIService is unavailable, and says why, until its service can be reached", async () => {
  const s = await stage();
  assert.equal((await s.register()).status, 201);
  assert.deepEqual(await s.condition(), {
    type: "Available",
    status: "False",
    reason: "ServiceNotFound",
    message: 'service/extension in "default" is not present',
  });
  s.leave("dial tcp [::1]:8443: connect: connection refused");
  await s.point({ type: "ExternalName", externalName: "localhost" });
  const url = `https://localhost:8443/apis/${GROUP}/v1`;
  assert.deepEqual(await s.condition(), {
    type: "Available",
    status: "False",
    reason: "FailedDiscoveryCheck",
    message: `failing or missing response from ${url}: Get "${url}": dial tcp [::1]:8443: connect: connection refused`,
  });
  s.leave(undefined);
  await s.clock.advance(60_000);
  assert.deepEqual(await s.condition(), {
    type: "Available",
    status: "True",
    reason: "Passed",
    message: "all checks passed",
  });
  s.leave("connection reset by peer");
  await s.clock.advance(31_000);
  assert.equal((await s.condition()).reason, "FailedDiscoveryCheck");
});

test("a service with cluster addresses must have the port, endpoints, and one of them ready", async () => {
  const s = await stage();
  await s.register();
  await s.point({ ports: [{ name: "https", port: 443 }] });
  const why = async () => (await s.condition()).reason;
  assert.equal(await why(), "ServicePortError");
  await s.send(
    "PATCH",
    "/api/v1/namespaces/default/services/extension",
    { spec: { ports: [{ name: "https", port: 8443 }] } },
    {
      "content-type": "application/merge-patch+json",
    },
  );
  assert.equal(await why(), "EndpointsNotFound");
  const slice = (isReady: boolean) => ({
    metadata: { name: "one", labels: { "kubernetes.io/service-name": "extension" } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.1.2.3"], conditions: { ready: isReady } }],
    ports: [{ name: "https", port: 6443, protocol: "TCP" }],
  });
  const slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
  await s.send("POST", slices, slice(false));
  assert.deepEqual(await s.condition(), {
    type: "Available",
    status: "False",
    reason: "MissingEndpoints",
    message: 'endpointslices for service/extension in "default" have no addresses with port name "https"',
  });
  await s.send("PUT", `${slices}/one`, slice(true));
  assert.equal(await why(), "Passed");
  const { host, port, serverName } = s.calls.at(-1)!.target;
  assert.deepEqual({ host, port, serverName }, { host: "10.1.2.3", port: 6443, serverName: "extension.default.svc" });
});

test("requests are passed on with the identity of their user, and with no other", async () => {
  const s = await stage();
  await s.ready();
  const path = `/apis/${GROUP}/v1/namespaces/default/samples`;
  const created = await s.send(
    "POST",
    path,
    { apiVersion: `${GROUP}/v1`, kind: "Sample", metadata: { name: "a" } },
    {
      "x-remote-user": "somebody-else",
      "x-remote-extra-scope": "everything",
      authorization: "Bearer secret",
    },
  );
  assert.equal(created.status, 201);
  const { request, target } = s.calls[0]!;
  assert.equal(target.host, "localhost");
  assert.equal(request.headers["x-remote-user"], "kubernetes-admin");
  assert.deepEqual(request.headers["x-remote-group"], ["system:masters", "system:authenticated"]);
  assert.equal(request.headers["x-remote-extra-scope"], undefined);
  assert.equal(request.headers["authorization"], undefined);
  const list = (await s.send("GET", `${path}?limit=5`)).json();
  assert.deepEqual(
    list.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ["a"],
  );
});

test("a user without permission for the group is refused before the extension server is called", async () => {
  const s = await stage();
  await s.ready();
  const { status } = await s.server.as({ name: "jane", groups: ["system:authenticated"] })({
    method: "GET",
    path: `/apis/${GROUP}/v1/samples`,
    headers: {},
  });
  assert.equal(status, 403);
  assert.deepEqual(s.calls, []);
});

test("another server gets the path that was authorized: no encoding leads to what the user may not reach", async () => {
  const s = await stage();
  await s.ready();
  const root = `/apis/${GROUP}/v1/namespaces/a/samples`;
  await s.send("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {
    metadata: { name: "reader" },
    rules: [{ apiGroups: [GROUP], resources: ["samples"], verbs: ["get"] }],
  });
  await s.send("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "reader" },
    subjects: [{ kind: "User", name: "jane", apiGroup: "rbac.authorization.k8s.io" }],
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
  });
  s.calls.length = 0;
  const asJane = s.server.as({ name: "jane", groups: ["system:authenticated"] });
  const get = async (path: string) => (await asJane({ method: "GET", path, headers: {} })).status;
  for (const path of ["one/secret", "one%2Fsecret", "one%2fsecret", "%6fne%2F%73ecret", "one/secret/"])
    assert.equal(await get(`${root}/${path}`), 403, path);
  for (const path of ["..", "%2e%2e", ".", "one%2F..", "%2F"])
    assert.ok([400, 403].includes(await get(`${root}/${path}`)), path);
  for (const path of [`/apis/${GROUP}/v1/namespaces/../samples/x`, `/apis/${GROUP}/v1/namespaces/%2e/samples/x`])
    assert.equal(await get(path), 400, path);
  assert.equal(s.calls.length, 0);
  await get(`${root}/%6fne?labelSelector=a%3Db&x=%26`);
  assert.deepEqual(
    s.calls.map(({ request }) => request.path),
    [`${root}/one?labelSelector=a%3Db&x=%26`],
  );
});

test("while a server is unavailable its group answers 503 in plain text, and other groups as ever", async () => {
  const s = await stage();
  await s.register();
  const { status, text, headers } = await s.send("GET", `/apis/${GROUP}/v1/samples`);
  assert.deepEqual([status, text], [503, "service unavailable\n"]);
  assert.equal(headers["content-type"], "text/plain; charset=utf-8");
  assert.equal((await s.send("GET", "/api/v1/pods")).status, 200);
  await s.point({ type: "ExternalName", externalName: "localhost" });
  assert.equal((await s.condition()).status, "True");
  s.leave("EOF");
  const broken = await s.send("GET", `/apis/${GROUP}/v1/samples`);
  assert.deepEqual([broken.status, broken.text], [503, "error trying to reach service: EOF\n"]);
});

test("discovery has the group where its priority puts it, in both forms", async () => {
  const s = await stage();
  await s.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd("a.example.com"));
  await s.ready();
  const names = (list: { groups: { name: string }[] }) => list.groups.map(({ name }) => name);
  const plain = names((await s.send("GET", "/apis")).json());
  assert.equal(plain[0], "apiregistration.k8s.io");
  assert.deepEqual(plain.slice(-2), [GROUP, "a.example.com"]);
  assert.deepEqual((await s.send("GET", `/apis/${GROUP}`)).json(), {
    kind: "APIGroup",
    apiVersion: "v1",
    name: GROUP,
    versions: [{ groupVersion: `${GROUP}/v1`, version: "v1" }],
    preferredVersion: { groupVersion: `${GROUP}/v1`, version: "v1" },
  });
  assert.equal((await s.send("GET", `/apis/${GROUP}/v1`)).json().resources[0].name, "samples");
  const find = async () => {
    const list = (await s.send("GET", "/apis", undefined, { accept: AGGREGATED })).json();
    return list.items.find((item: { metadata: { name: string } }) => item.metadata.name === GROUP).versions[0];
  };
  const current = await find();
  assert.equal(current.freshness, "Current");
  assert.equal(current.resources[0].resource, "samples");
  s.leave("EOF");
  await s.clock.advance(31_000);
  assert.deepEqual({ ...(await find()), resources: [] }, { version: "v1", resources: [], freshness: "Stale" });
});

test("OpenAPI lists the documents of other servers, and hands out theirs", async () => {
  const s = await stage();
  const before = (await s.send("GET", "/openapi/v3")).json().paths;
  assert.equal(before[`apis/${GROUP}/v1`], undefined);
  await s.ready();
  const { serverRelativeURL } = (await s.send("GET", "/openapi/v3")).json().paths[`apis/${GROUP}/v1`];
  const document = (await s.send("GET", serverRelativeURL)).json();
  assert.ok(document.paths[`/apis/${GROUP}/v1/namespaces/{namespace}/samples`]);
  const swagger = (await s.send("GET", "/openapi/v2")).json();
  assert.ok(swagger.paths[`/apis/${GROUP}/v1/namespaces/{namespace}/samples`]);
  assert.ok(swagger.paths["/api/v1/namespaces/{namespace}/pods"]);
});

test("an APIService that is deleted takes its group with it", async () => {
  const s = await stage();
  await s.ready();
  await s.send("DELETE", `${SERVICES}/${NAME}`);
  assert.equal((await s.send("GET", `/apis/${GROUP}/v1/samples`)).status, 404);
  assert.equal((await s.send("GET", `/apis/${GROUP}`)).status, 404);
  const calls = s.calls.length;
  await s.clock.advance(120_000);
  assert.equal(s.calls.length, calls);
});

test("each served version of a CRD's group has an APIService while the CRD exists", async () => {
  const s = await stage();
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await s.send("POST", definitions, crd("b.example.com", ["v1", "v2beta1"]));
  const { metadata, spec, status } = (await s.send("GET", `${SERVICES}/v2beta1.b.example.com`)).json();
  assert.deepEqual(metadata.labels, { "kube-aggregator.kubernetes.io/automanaged": "true" });
  assert.deepEqual(spec, {
    group: "b.example.com",
    version: "v2beta1",
    groupPriorityMinimum: 1000,
    versionPriority: 100,
  });
  assert.equal(status.conditions[0].reason, "Local");
  await s.send("DELETE", `${SERVICES}/v1.b.example.com`);
  assert.equal((await s.send("GET", `${SERVICES}/v1.b.example.com`)).status, 200);
  await s.send("DELETE", `${definitions}/samples.b.example.com`);
  assert.equal((await s.send("GET", `${SERVICES}/v1.b.example.com`)).status, 404);
});

test("a ConfigMap has what extension API servers need to authenticate this one", async () => {
  const s = await stage({ frontProxy: { ca: "PROXY CA", names: ["front-proxy-client"], clientCa: "CLIENT CA" } });
  const path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
  assert.deepEqual((await s.send("GET", path)).json().data, {
    "client-ca-file": "CLIENT CA",
    "requestheader-allowed-names": '["front-proxy-client"]',
    "requestheader-client-ca-file": "PROXY CA",
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-uid-headers": '["X-Remote-Uid"]',
    "requestheader-username-headers": '["X-Remote-User"]',
  });
});

test("an APIService that contradicts itself is refused", async () => {
  const s = await stage();
  const refused = async (spec: object) =>
    (await s.register(spec)).json().details?.causes?.map(({ field }: { field: string }) => field);
  assert.deepEqual(await refused({ group: "other.example.com" }), ["metadata.name"]);
  assert.deepEqual(await refused({ groupPriorityMinimum: 0, versionPriority: 1001 }), [
    "spec.groupPriorityMinimum",
    "spec.versionPriority",
  ]);
  assert.deepEqual(await refused({ caBundle: "QQ==", insecureSkipTLSVerify: true }), ["spec.insecureSkipTLSVerify"]);
  assert.deepEqual(await refused({ service: undefined, caBundle: "QQ==" }), ["spec.caBundle"]);
});
