import assert from "node:assert/strict";
import { test } from "node:test";
import { readText, VirtualClock } from "@konverge/core";
import { ApiServer } from "../server.ts";

/** What every object has without having been given it. */
const INHERITED = ["constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "__defineGetter__"];

const PODS = "/api/v1/namespaces/default/pods";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: object;
}

const pod = (spec: object, metadata: object = {}): Sent => ({
  method: "POST",
  path: `${PODS}?dryRun=All`,
  body: { metadata: { name: "p", ...metadata }, spec: { containers: [{ name: "c", image: "i" }], ...spec } },
});
const created = (path: string, body: object): Sent => ({ method: "POST", path: `${path}?dryRun=All`, body });
const definition = (type: string, format: string, name: string) =>
  created(CRDS, {
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                [name]: { type, format },
                [`__${name}__`]: { type: "string", "x-kubernetes-validations": [{ rule: `self.${name} == 1` }] },
              },
            },
          },
        },
      ],
    },
  });

/** One such name in each place where a client can write one. */
const requestsWith = (name: string): Sent[] => [
  { method: name, path: PODS },
  { path: `/${name}` },
  { path: `/apis/${name}/${name}/${name}` },
  { path: `/api/v1/namespaces/${name}/${name}/${name}/${name}` },
  { path: `${PODS}/${name}/${name}` },
  { path: `${PODS}?${name}=1` },
  ...["labelSelector", "fieldSelector", "timeout", "limit", "resourceVersionMatch", "watch", "fieldValidation"].flatMap(
    (parameter) =>
      [name, `1${name}`, `${name}=1`, `a ${name} (b)`].map((value) => ({
        path: `${PODS}?${parameter}=${encodeURIComponent(value)}&timeoutSeconds=0&resourceVersion=1`,
      })),
  ),
  ...[PODS, "/openapi/v2", "/api", `${PODS}/absent`].flatMap((path) =>
    [name, `application/json;${name}=1`, `application/json;as=${name};g=${name};v=${name}`].map((accept) => ({
      path,
      headers: { accept },
    })),
  ),
  { path: PODS, headers: { [name.toLowerCase()]: "x", "impersonate-user": "jane", "impersonate-group": name } },
  { path: PODS, headers: { [`impersonate-extra-${name.toLowerCase()}`]: "x", "impersonate-user": "jane" } },
  { path: PODS, headers: { [`impersonate-extra-${name.toLowerCase()}`]: "x" } },
  { ...created(PODS, { metadata: { name } }), headers: { "content-type": name } },
  created(PODS, { kind: name, apiVersion: name, [name]: { [name]: name }, metadata: { [name]: name } }),
  pod({}, { labels: { [name]: name }, annotations: { [name]: name }, generateName: name }),
  pod({ nodeSelector: { [name]: name }, runtimeClassName: name, priorityClassName: name, restartPolicy: name }),
  pod({ containers: [{ name: "c", image: "i", resources: { limits: { [name]: "1", cpu: `1${name}` } } }] }),
  pod({ containers: [{ name: "c", image: "i", env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: name } } }] }] }),
  pod({ volumes: [{ name: "v", [name]: {} }], tolerations: [{ key: name, operator: name, effect: name }] }),
  pod({ topologySpreadConstraints: [{ topologyKey: name, maxSkew: 1, whenUnsatisfiable: name }] }),
  created("/api/v1/namespaces/default/resourcequotas", {
    metadata: { name: "q" },
    spec: {
      hard: { pods: "1", [name]: "1" },
      scopes: [name],
      scopeSelector: { matchExpressions: [{ scopeName: name }] },
    },
  }),
  created("/api/v1/namespaces/default/configmaps", { metadata: { name: "c" }, data: { [name]: name } }),
  created("/api/v1/namespaces/default/services", {
    metadata: { name: "s" },
    spec: { type: name, selector: { [name]: name } },
  }),
  created("/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name: `system-${name}` }, value: 1 }),
  created("/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name: name.toLowerCase() }, value: 1 }),
  created("/apis/apps/v1/namespaces/default/deployments", {
    metadata: { name: "d" },
    spec: { selector: { matchExpressions: [{ key: name, operator: name, values: [name] }] }, template: {} },
  }),
  definition(name, name, name),
  definition("string", name, name),
  definition("integer", name, name),
  {
    method: "PATCH",
    path: "/api/v1/namespaces/default?dryRun=All",
    headers: { "content-type": "application/json-patch+json" },
    body: [{ op: name, path: `/metadata/${name}`, from: `/${name}` }],
  },
];

test("names that every object has are names like others, wherever a client writes them", async () => {
  const server = new ApiServer({ clock: new VirtualClock() });
  for (const name of INHERITED) {
    for (const { method = "GET", path, headers = {}, body } of requestsWith(name)) {
      const what = `${method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(body)}`;
      const request = {
        method,
        path,
        headers: { "content-type": "application/json", ...headers },
        ...(body && { body: JSON.stringify(body) }),
      };
      const response = await server
        .transport(request)
        .catch((error: unknown) => assert.fail(`${what}: ${String(error)}`));
      if (response.status >= 500) assert.fail(`${what}: ${response.status} ${await readText(response.body)}`);
      if (typeof response.body !== "string" && !(response.body instanceof Uint8Array))
        await response.body[Symbol.asyncIterator]().return?.();
    }
  }
  const metrics = await server.transport({ method: "GET", path: "/metrics", headers: {} });
  assert.doesNotMatch(await readText(metrics.body), /undefined|native code/);
  server.close();
});
