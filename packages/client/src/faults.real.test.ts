import assert from "node:assert/strict";
import { createPrivateKey, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ApiError } from "@konverge/core";
import {
  ClusterRoleBinding,
  ConfigMap,
  FlowSchema,
  Namespace,
  PriorityLevelConfiguration,
  ServiceAccount,
} from "@konverge/kinds";
import { findControlPlane, type RealCluster, startRealCluster } from "@konverge/real";
import { type FlakyProxy, flakyProxy } from "../test/flaky-proxy.ts";
import { hurriedClock } from "../test/loopback-server.ts";
import { type Client, type ConnectionConfig, connect, type ExecPlugin, TransportError, type Watch } from "./index.ts";

// Another version that has been built: KONVERGE_KUBERNETES=1.34.4.
const kubernetes = process.env.KONVERGE_KUBERNETES;
const plane = findControlPlane(kubernetes);
const options = { skip: plane.available ? false : plane.why };

let cluster: RealCluster;
let client: Client;
let wire: FlakyProxy;
before(async () => {
  if (!plane.available) return;
  cluster = await startRealCluster({ ...(kubernetes && { kubernetes }) });
  client = await connect({ kubeconfig: cluster.kubeconfig });
  wire = await flakyProxy(Number(new URL(cluster.url).port));
});
after(async () => {
  await client?.close();
  await wire?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

/** How to reach the cluster with a token. */
const access = (more: Partial<ConnectionConfig> = {}): ConnectionConfig => ({
  server: cluster.url,
  ca: { value: cluster.ca },
  credentials: { token: { value: cluster.adminToken } },
  ...more,
});
const overTheWire = (): ConnectionConfig => access({ server: `https://127.0.0.1:${wire.port}` });

/** What a consumer that follows the watch's rules knows. */
class Mirror implements AsyncDisposable {
  readonly objects = new Map<string, string>();
  readonly errors: Error[] = [];
  resets = 0;
  #listed: Set<string> | undefined;
  readonly #end = new AbortController();
  readonly #done: Promise<void>;
  #changed: (() => void) | undefined;

  constructor(start: (signal: AbortSignal) => Watch<ConfigMap>) {
    this.#done = this.#follow(start(this.#end.signal));
  }

  /** Resolves when the state satisfies the condition. */
  async until(condition: (mirror: Mirror) => boolean): Promise<void> {
    while (!condition(this)) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#done;
  }

  async #follow(watch: Watch<ConfigMap>): Promise<void> {
    for await (const event of watch) {
      if (event.type === "RESET") {
        this.resets++;
        this.#listed = new Set();
      } else if (event.type === "ADDED" || event.type === "MODIFIED") {
        this.#listed?.add(event.object.metadata.name);
        this.objects.set(event.object.metadata.name, event.object.data?.n ?? "");
      } else if (event.type === "DELETED") this.objects.delete(event.object.metadata.name);
      else if (event.type === "SYNCED") {
        for (const name of this.objects.keys()) if (!this.#listed?.has(name)) this.objects.delete(name);
        this.#listed = undefined;
      } else if (event.type === "ERROR") this.errors.push(event.error);
      this.#changed?.();
    }
  }
}

async function namespace(name: string): Promise<string> {
  await client.create(Namespace, { metadata: { name } });
  return name;
}

const put = (namespace: string, name: string, n: number) =>
  client.apply(ConfigMap, { metadata: { name, namespace }, data: { n: String(n) } });

const outcome = (call: Promise<unknown>) =>
  call.then(
    () => "done",
    (error: unknown) =>
      error instanceof TransportError ? `${error.code}${error.unknownOutcome ? ", in doubt" : ""}` : error,
  );

test("certificates: the right authority, the wrong one, none, another name", options, async () => {
  const { cert, key } = await cluster.issueClient("jane", ["system:masters"]);
  const byCertificate = { credentials: undefined, cert: { value: cert }, key: { value: key } };
  await using jane = await connect({ config: access(byCertificate) });
  assert.equal((await jane.whoAmI()).username, "jane");
  const tries: [Partial<ConnectionConfig>, string | RegExp][] = [
    [{ ca: undefined }, "tls"],
    [{ ca: undefined, insecureSkipTlsVerify: true }, "done"],
    [{ tlsServerName: "kubernetes.default" }, "done"],
    [{ tlsServerName: "example.com" }, "tls"],
  ];
  for (const [config, expected] of tries) {
    await using other = await connect({ config: access(config), retry: false });
    assert.equal(await outcome(other.create(ConfigMap, { metadata: { name: "x" } }, { dryRun: true })), expected);
  }
});

test("certificates from files that are replaced are taken up by new connections", options, async () => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-certificates-"));
  const [cert, key] = [join(folder, "crt"), join(folder, "key")];
  const become = async (user: string) => {
    const issued = await cluster.issueClient(user, ["system:masters"]);
    writeFileSync(cert, issued.cert);
    writeFileSync(key, issued.key);
  };
  await become("first");
  // On this clock a minute is a twentieth of a second.
  const config = access({ credentials: undefined, cert: { file: cert }, key: { file: key } });
  await using someone = await connect({ config, clock: hurriedClock(), timeout: 60_000_000 });
  assert.equal((await someone.whoAmI()).username, "first");
  await become("second");
  while ((await someone.whoAmI()).username !== "second");
  rmSync(folder, { recursive: true });
});

/** A token of a service account that was good until a minute ago. */
async function expiredToken(): Promise<string> {
  await client.create(ServiceAccount, { metadata: { name: "late" } });
  const { token } = await client.requestToken("late");
  const [head, payload] = token.split(".") as [string, string];
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
  const now = Math.floor(Date.parse((await client.get(ServiceAccount, "late")).metadata.creationTimestamp!) / 1000);
  Object.assign(claims, { iat: now - 7200, nbf: now - 7200, exp: now - 60 });
  const signed = `${head}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
  const secret = createPrivateKey(readFileSync(join(cluster.folder, "sa.key")));
  return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), secret).toString("base64url")}`;
}

test("an expired token is a 401, or renewed where there is a way", options, async () => {
  const expired = await expiredToken();
  await using stuck = await connect({ config: access({ credentials: { token: { value: expired } } }) });
  await assert.rejects(stuck.whoAmI(), (error: unknown) => error instanceof ApiError && error.code === 401);
  const folder = mkdtempSync(join(tmpdir(), "konverge-token-"));
  const file = join(folder, "token");
  writeFileSync(file, expired);
  await using renewed = await connect({ config: access({ credentials: { token: { file } } }) });
  await assert.rejects(renewed.whoAmI(), (error: unknown) => error instanceof ApiError && error.code === 401);
  writeFileSync(file, cluster.adminToken);
  assert.equal((await renewed.whoAmI()).username, "admin");

  // A plugin whose first token has expired is asked for another.
  const credential = (token: string) =>
    JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token } });
  writeFileSync(join(folder, "first"), credential(expired));
  writeFileSync(join(folder, "second"), credential(cluster.adminToken));
  const exec: ExecPlugin = {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "sh",
    args: ["-c", `cat ${folder}/first; cp ${folder}/second ${folder}/first`],
    env: [],
    provideClusterInfo: false,
    interactiveMode: "Never",
  };
  await using plugged = await connect({ config: access({ credentials: { exec } }) });
  assert.equal((await plugged.whoAmI()).username, "admin");
  rmSync(folder, { recursive: true });
});

test("a server that is too busy is obeyed until it is not", options, async () => {
  const limited = { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: "Reject" } };
  await client.create(PriorityLevelConfiguration, {
    metadata: { name: "never" },
    spec: { type: "Limited", limited },
  } as never);
  await client.create(FlowSchema, {
    metadata: { name: "never" },
    spec: {
      priorityLevelConfiguration: { name: "never" },
      matchingPrecedence: 2,
      rules: [
        {
          subjects: [{ kind: "User", user: { name: "hasty" } }],
          resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true }],
        },
      ],
    },
  } as never);
  // Not a member of system:masters: they are exempt from all limits.
  await client.create(ClusterRoleBinding, {
    metadata: { name: "hasty" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "hasty" }],
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
  });
  // One at a time is let through, the others get Retry-After: 1.
  const all = (hasty: Client, prefix: string) =>
    Promise.allSettled(
      Array.from({ length: 8 }, (_, i) =>
        hasty.create(ConfigMap, { metadata: { name: `${prefix}${i}` }, data: { pad: "x".repeat(500_000) } }),
      ),
    );
  const config = access({ impersonate: { user: "hasty" } });
  await using impatient = await connect({ config, retry: false });
  let refusals: unknown[] = [];
  for (let tries = 0; refusals.length === 0; tries++) {
    assert.ok(tries < 100, "the server refused nothing");
    refusals = (await all(impatient, `hasty-${tries}-`)).flatMap((outcome) =>
      outcome.status === "rejected" ? [outcome.reason] : [],
    );
  }
  for (const refusal of refusals) {
    assert.ok(refusal instanceof ApiError && refusal.code === 429, String(refusal));
    assert.ok((refusal.retryAfter ?? 0) >= 1000);
  }
  await using patient = await connect({ config, retry: { tries: 60 } });
  assert.deepEqual(
    (await all(patient, "patient-")).filter(({ status }) => status === "rejected"),
    [],
  );
});

test("connections that are killed while a watch runs lose no event", options, async () => {
  const where = await namespace("killed");
  await using watcher = await connect({ config: overTheWire(), clock: hurriedClock(), timeout: 60_000_000 });
  await using mirror = new Mirror((signal) => watcher.watch(ConfigMap, { namespace: where, signal }));
  await mirror.until(({ resets }) => resets > 0);
  const expected = new Map<string, string>();
  for (let i = 0; i < 60; i++) {
    const name = `m${i % 12}`;
    if (i % 7 === 6 && expected.delete(name)) await client.delete(ConfigMap, `${where}/${name}`);
    else {
      await put(where, name, i);
      expected.set(name, String(i));
    }
    if (i % 10 === 5) wire.cut();
  }
  const same = () => JSON.stringify([...expected].sort());
  await mirror.until(({ objects }) => JSON.stringify([...objects].sort()) === same());
  assert.ok(mirror.errors.length > 0, "cut connections are reported");
  assert.ok(mirror.errors.every((error) => error instanceof TransportError || error instanceof ApiError));
});

test("truncated responses: reads are retried, writes have an unknown outcome", options, async () => {
  const where = await namespace("short");
  await put(where, "a", 1);
  await using shaky = await connect({ config: overTheWire(), retry: false });
  await shaky.get(ConfigMap, `${where}/a`);
  wire.cut();
  // Enough for the handshake, not for the answer.
  wire.cutAfter(2500);
  const padding = { pad: "x".repeat(20_000) };
  const write = shaky.create(ConfigMap, { metadata: { name: "b", namespace: where }, data: padding });
  assert.equal(await outcome(write), "closed, in doubt");
  assert.equal(await outcome(shaky.get(ConfigMap, `${where}/b`)), "closed");
  wire.cutAfter(undefined);
  assert.deepEqual((await shaky.get(ConfigMap, `${where}/b`)).data, padding, "it had been carried out");
});

for (const http2 of [false, true]) {
  const name = `connections that go dead silently (${http2 ? "HTTP/2" : "HTTP/1.1"}) end calls at their deadline, and all recovers`;
  test(name, options, () => unresponsive(http2));
}

async function unresponsive(http2: boolean): Promise<void> {
  const where = await namespace(`dead-${http2}`);
  await using lost = await connect({ config: { ...overTheWire(), http2 }, retry: false });
  await using mirror = new Mirror((signal) => lost.watch(ConfigMap, { namespace: where, signal, inactivity: 1000 }));
  await put(where, "a", 1);
  await mirror.until(({ objects }) => objects.has("a"));
  const before = wire.connections;
  await Promise.all(Array.from({ length: 20 }, () => lost.get(ConfigMap, `${where}/a`)));
  assert.equal(wire.connections - before < 10, http2, "HTTP/2 shares connections");
  // The write takes the connection that was used last; one that rested longer might have been closed meanwhile.
  await lost.get(ConfigMap, `${where}/a`);
  wire.freeze();
  const write = lost.create(ConfigMap, { metadata: { name: "b", namespace: where } }, { timeout: 300 });
  assert.equal(await outcome(write), "timeout, in doubt");
  assert.equal(await outcome(put(where, "c", 3)), "done");
  assert.equal(await outcome(lost.get(ConfigMap, `${where}/c`, { timeout: 10_000 })), "done", "on a new connection");
  await mirror.until(({ objects }) => objects.has("c"));
}

test("an API server that restarts in mid-watch, and one whose history is compacted (410)", options, async () => {
  const where = await namespace("restarted");
  await put(where, "stays", 1);
  await put(where, "goes", 1);
  await using mirror = new Mirror((signal) => client.watch(ConfigMap, { namespace: where, signal }));
  await mirror.until(({ objects }) => objects.size === 2);
  const { metadata } = await client.list(ConfigMap, { namespace: where });
  await client.delete(ConfigMap, `${where}/goes`);
  await put(where, "comes", 1);
  await cluster.stopApiServer();
  assert.equal(await outcome(client.create(ConfigMap, { metadata: { name: "x" } }, { timeout: 1000 })), "unreachable");
  await cluster.etcd.compact();
  await cluster.startApiServer();
  await put(where, "stays", 2);
  const whole = (objects: Map<string, string>) =>
    JSON.stringify([...objects].sort()) ===
    JSON.stringify([
      ["comes", "1"],
      ["stays", "2"],
    ]);
  await mirror.until(({ objects }) => whole(objects));

  // The version of before the compaction is forgotten: the watch must list again, and the deletion must not be lost.
  await using late = new Mirror((signal) =>
    client.watch(ConfigMap, { namespace: where, signal, resourceVersion: metadata.resourceVersion }),
  );
  late.objects.set("goes", "1");
  await late.until(({ objects }) => whole(objects));
  assert.equal(late.resets, 1);
});
