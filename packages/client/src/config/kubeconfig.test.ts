import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ConfigError, type ConnectionConfig } from "./connection-config.ts";
import { inClusterConfig } from "./in-cluster.ts";
import { type LoadConfigOptions, loadConfig } from "./load-config.ts";

/** Writes files into a fresh folder and loads a configuration there. */
async function load(
  files: Record<string, string>,
  options: Omit<LoadConfigOptions, "env"> & { list?: string[]; env?: Record<string, string> } = {},
): Promise<ConnectionConfig & { folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "konverge-config-"));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(folder, name, ".."), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const env = {
      HOME: folder,
      ...(options.list && { KUBECONFIG: options.list.map((name) => join(folder, name)).join(":") }),
      ...options.env,
    };
    const kubeconfig = options.kubeconfig && join(folder, options.kubeconfig);
    const config = await loadConfig({ ...(kubeconfig && { kubeconfig }), context: options.context, env });
    return { ...config, folder };
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replaceAll(folder, "<folder>");
    throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

const simple = (user = "token: t0ken") => `
apiVersion: v1
kind: Config
current-context: main
contexts:
- name: main
  context: {cluster: c, user: u, namespace: apps}
- name: other
  context: {cluster: c2, user: u}
clusters:
- name: c
  cluster:
    server: https://one:6443
    certificate-authority-data: ${base64("CA PEM")}
    tls-server-name: kubernetes
- name: c2
  cluster: {server: "https://two:6443", insecure-skip-tls-verify: true, proxy-url: "http://proxy:3128", disable-compression: true}
users:
- name: u
  user: {${user}}
`;

test("the current context says which server, whose authority and which namespace", async () => {
  const config = await load({ ".kube/config": simple() });
  assert.equal(config.server, "https://one:6443");
  assert.deepEqual(config.ca, { value: "CA PEM" });
  assert.equal(config.tlsServerName, "kubernetes");
  assert.equal(config.namespace, "apps");
  assert.deepEqual(config.credentials, { token: { value: "t0ken" } });
  assert.equal(config.compression, true);
});

test("another context can be asked for", async () => {
  const config = await load({ ".kube/config": simple() }, { context: "other" });
  assert.equal(config.server, "https://two:6443");
  assert.equal(config.insecureSkipTlsVerify, true);
  assert.equal(config.proxyUrl, "http://proxy:3128");
  assert.equal(config.compression, false);
  assert.equal(config.namespace, undefined);
});

test("a kubeconfig may be JSON", async () => {
  const json = JSON.stringify({
    "current-context": "x",
    contexts: [{ name: "x", context: { cluster: "x", user: "x" } }],
    clusters: [{ name: "x", cluster: { server: "http://127.0.0.1:8080" } }],
    users: [{ name: "x", user: {} }],
  });
  assert.equal((await load({ "my.json": json }, { kubeconfig: "my.json" })).server, "http://127.0.0.1:8080");
});

test("paths are relative to the file they are in", async () => {
  const config = await load({
    ".kube/config": simple(
      "client-certificate: certs/me.crt, client-key: /keys/me.key, tokenFile: ../token, token: old",
    ),
  });
  assert.deepEqual(config.cert, { file: join(config.folder, ".kube/certs/me.crt") });
  assert.deepEqual(config.key, { file: "/keys/me.key" });
  assert.deepEqual(config.credentials, { token: { file: join(config.folder, "token") } });
});

test("of several files the first to name something wins, and missing ones are passed over", async () => {
  const first = "current-context: other\nclusters: [{name: c2, cluster: {server: 'https://mine:1'}}]";
  const config = await load({ a: first, b: simple() }, { list: ["missing", "a", "b"] });
  assert.equal(config.server, "https://mine:1");
  assert.deepEqual(config.credentials, { token: { value: "t0ken" } });
});

test("data in the file wins over a path, and certificate and key go together", async () => {
  const user = `client-certificate: a.crt, client-certificate-data: ${base64("CERT")}, client-key-data: ${base64("KEY")}`;
  const config = await load({ ".kube/config": simple(user) });
  assert.deepEqual([config.cert, config.key], [{ value: "CERT" }, { value: "KEY" }]);
  await assert.rejects(load({ ".kube/config": simple("client-certificate: a.crt") }), /user u: .* one is missing/);
});

test("users can be impersonated", async () => {
  const config = await load({
    ".kube/config": simple("as: jane, as-uid: '7', as-groups: [dev, ops], as-user-extra: {scopes: [a, b]}"),
  });
  assert.deepEqual(config.impersonate, {
    user: "jane",
    uid: "7",
    groups: ["dev", "ops"],
    extra: { scopes: ["a", "b"] },
  });
});

test("an exec plugin is read with its defaults, and a path to it is relative to the file", async () => {
  const user =
    "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./bin/login, args: [get], env: [{name: A, value: b}], installHint: get it}";
  const { credentials, folder } = await load({ ".kube/config": simple(user) });
  assert.deepEqual(credentials, {
    exec: {
      apiVersion: "client.authentication.k8s.io/v1beta1",
      command: join(folder, ".kube/bin/login"),
      args: ["get"],
      env: [{ name: "A", value: "b" }],
      installHint: "get it",
      provideClusterInfo: false,
      interactiveMode: "IfAvailable",
      clusterConfig: undefined,
    },
  });
});

test("what is wrong is said with file and field", async () => {
  const cases: [string, RegExp][] = [
    [simple("token: 1234567"), /users\[0\].user.token: expected a string, got a number$/],
    ["root:x:0", /the file: expected an object, got a string$/],
    [simple("token: [1]"), /<folder>\/.kube\/config: users\[0\].user.token: expected a string, got a list/],
    [
      simple("exec: {apiVersion: client.authentication.k8s.io/v1, command: x}"),
      /users\[0\].user.exec.interactiveMode: is missing/,
    ],
    [simple("exec: {apiVersion: v1, command: x}"), /users\[0\].user.exec.apiVersion: expected client.authentication/],
    [simple("auth-provider: {name: gcp}"), /auth-provider.name: the auth provider gcp is not supported/],
    [simple("client-key-data: '!!!'"), /users\[0\].user.client-key-data: is not base64/],
    [simple().replace("current-context: main", ""), /current-context is not set; contexts: main, other/],
    [simple().replace("current-context: main", "current-context: nope"), /no context nope; contexts: main, other/],
    [simple().replace("cluster: c,", "cluster: gone,"), /context main names the cluster gone, which is missing/],
    [simple().replace("user: u,", "user: gone,"), /context main names the user gone, which is missing/],
    [simple().replace("https://one:6443", "one:6443"), /clusters\[0\].cluster.server: expected an http or https URL/],
    [simple().replace("kind: Config", "kind: Pod"), /kind: expected Config, got Pod/],
    ["clusters: {}", /<folder>\/.kube\/config: clusters: expected a list/],
    ["a: [", /<folder>\/.kube\/config: /],
    ["just text", /expected an object/],
  ];
  for (const [text, message] of cases) {
    await assert.rejects(load({ ".kube/config": text }), (error: unknown) => {
      assert.ok(error instanceof ConfigError, String(error));
      assert.match(error.message, message);
      return true;
    });
  }
});

test("a faulty entry harms only those who use it", async () => {
  const text = simple().replace("users:", "users:\n- name: broken\n  user: {token: 7}");
  assert.equal((await load({ ".kube/config": text })).server, "https://one:6443");
});

test("no kubeconfig at all is said plainly", async () => {
  await assert.rejects(load({}), /cannot read the kubeconfig <folder>\/.kube\/config: there is no such file/);
  await assert.rejects(load({}, { list: ["a", "b"] }), /none of the kubeconfigs in \$KUBECONFIG exists: .*a:.*b/);
});

test("in a pod, the service account's files are used, unless a kubeconfig is named", async () => {
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  const folder = mkdtempSync(join(tmpdir(), "konverge-config-"));
  writeFileSync(join(folder, "namespace"), "apps\n");
  assert.deepEqual(await inClusterConfig(env, folder), {
    server: "https://[fd00::1]:443",
    namespace: "apps",
    ca: { file: `${folder}/ca.crt` },
    credentials: { token: { file: `${folder}/token` } },
  });
  rmSync(folder, { recursive: true });
  await assert.rejects(loadConfig({ env }), /automountServiceAccountToken/);
  assert.equal((await load({ k: simple() }, { list: ["k"], env })).server, "https://one:6443");
});
