import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { VirtualClock } from "@konverge/core";
import type { ExecPlugin, OidcProvider } from "../config/connection-config.ts";
import { saveOidcTokens } from "../config/save-tokens.ts";
import { TransportError } from "../errors.ts";
import { ExecCredentialSource } from "./exec-credential.ts";
import { OidcCredentialSource, type ProviderFetch } from "./oidc-credential.ts";
import { tokenCredential } from "./token-credential.ts";

const folder = mkdtempSync(join(tmpdir(), "konverge-credentials-"));
after(() => rmSync(folder, { recursive: true }));

test("a token file that is replaced is noticed, at once when the server refuses the old token", async () => {
  const clock = new VirtualClock();
  const file = join(folder, "token");
  writeFileSync(file, "one\n");
  const source = tokenCredential(clock, { file });
  assert.deepEqual(await source.get(), { authorization: "Bearer one" });
  writeFileSync(file, "two\n");
  assert.deepEqual(await source.get(), { authorization: "Bearer one" });
  await clock.advance(10_000);
  assert.deepEqual(await source.get(), { authorization: "Bearer two" });
  writeFileSync(file, "three\n");
  assert.deepEqual(await source.renew({ authorization: "Bearer two" }), { authorization: "Bearer three" });
  assert.equal(await source.renew({ authorization: "Bearer three" }), undefined);
});

test("a token file that cannot be read for a moment does no harm; one that never could is an error", async () => {
  const clock = new VirtualClock();
  const file = join(folder, "flickering");
  writeFileSync(file, "one");
  const source = tokenCredential(clock, { file });
  await source.get();
  rmSync(file);
  await clock.advance(60_000);
  assert.deepEqual(await source.get(), { authorization: "Bearer one" });
  await assert.rejects(
    tokenCredential(clock, { file: join(folder, "never") }).get(),
    (error: unknown) => error instanceof TransportError && error.code === "credentials" && !error.unknownOutcome,
  );
});

/** A plugin that is a shell script; it counts its runs in a file. */
function plugin(script: string, more: Partial<ExecPlugin> = {}): ExecPlugin & { runs: () => number } {
  const name = `plugin-${plugins++}`;
  const command = join(folder, name);
  const counter = join(folder, `${name}.runs`);
  writeFileSync(counter, "");
  writeFileSync(command, `#!/bin/sh\necho run >> ${counter}\n${script}\n`);
  chmodSync(command, 0o755);
  return {
    apiVersion: "client.authentication.k8s.io/v1",
    command,
    args: [],
    env: [],
    provideClusterInfo: false,
    interactiveMode: "Never",
    ...more,
    runs: () => readFileSync(counter, "utf8").split("\n").length - 1,
  };
}
let plugins = 0;

const answering = (status: object) =>
  `echo '${JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status })}'`;
const cluster = { server: "https://x" };

test("a plugin is run once for all who ask, and again when its token has expired", async () => {
  const clock = new VirtualClock({ start: Date.UTC(2026, 0, 1) });
  const script = plugin(answering({ token: "abc", expirationTimestamp: "2026-01-01T01:00:00Z" }));
  const source = new ExecCredentialSource(clock, script, cluster);
  const answers = await Promise.all([source.get(), source.get()]);
  assert.deepEqual(answers, [{ authorization: "Bearer abc" }, { authorization: "Bearer abc" }]);
  await source.get();
  assert.equal(script.runs(), 1);
  await clock.advance(3_600_000);
  await source.get();
  assert.equal(script.runs(), 2);
});

test("a plugin is run again when the server refuses its token, but the same token is not tried twice", async () => {
  const clock = new VirtualClock();
  const same = plugin(answering({ token: "abc" }));
  const source = new ExecCredentialSource(clock, same, cluster);
  assert.equal(await source.renew(await source.get()), undefined);
  const changing = plugin(
    `cat <<EOF\n{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t$$"}}\nEOF`,
  );
  const other = new ExecCredentialSource(clock, changing, cluster);
  const first = await other.get();
  const second = await other.renew(first);
  assert.ok(second && second.authorization !== first.authorization);
  assert.deepEqual(await other.renew(first), second, "others who were refused get what has been renewed meanwhile");
  assert.equal(changing.runs(), 2);
});

test("a plugin gets the cluster's configuration, and can return a certificate", async () => {
  const observed = join(folder, "observed");
  const script = plugin(
    `echo "$KUBERNETES_EXEC_INFO|$EXTRA|$1" > ${observed}\n${answering({ clientCertificateData: "C", clientKeyData: "K" })}`,
    { args: ["login"], env: [{ name: "EXTRA", value: "more" }], provideClusterInfo: true },
  );
  const source = new ExecCredentialSource(new VirtualClock(), script, { server: "https://x", config: { a: 1 } });
  assert.deepEqual(await source.get(), { cert: "C", key: "K" });
  const [info, extra, argument] = readFileSync(observed, "utf8").trim().split("|");
  assert.deepEqual(JSON.parse(info!), {
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    spec: { interactive: false, cluster: { server: "https://x", config: { a: 1 } } },
  });
  assert.deepEqual([extra, argument], ["more", "login"]);
});

test("what a plugin does wrong is said, with its hint", async () => {
  const cases: [ExecPlugin, RegExp][] = [
    [plugin("exit 3"), /plugin-.*: it exited with code 3/],
    [plugin("echo hello"), /its output is not JSON/],
    [plugin("echo '{}'"), /expected an ExecCredential of client.authentication.k8s.io\/v1, got undefined/],
    [plugin(answering({})), /neither a token nor a certificate/],
    [plugin(answering({ token: "x", expirationTimestamp: "soon" })), /expirationTimestamp is not a time: soon/],
    [plugin("true", { interactiveMode: "Always" }), /it needs a terminal/],
    [
      { ...plugin(""), command: "no-such-plugin-anywhere", installHint: "brew install it" },
      /no-such-plugin-anywhere: there is no such program\nbrew install it/,
    ],
  ];
  for (const [script, message] of cases) {
    await assert.rejects(new ExecCredentialSource(new VirtualClock(), script, cluster).get(), (error: unknown) => {
      assert.ok(error instanceof TransportError && error.code === "credentials");
      assert.match(error.message, message);
      return true;
    });
  }
});

const jwt = (claims: object) => `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;

/** An identity provider that issues a token per refresh, and takes each refresh token once. */
function provider(clock: VirtualClock): { fetch: ProviderFetch; asked: string[] } {
  const asked: string[] = [];
  let issued = 0;
  return {
    asked,
    fetch: async (url, init) => {
      asked.push(init ? `${url} ${init.body} ${init.headers.authorization ?? ""}`.trim() : url);
      if (url.endsWith("/.well-known/openid-configuration")) {
        return { status: 200, body: JSON.stringify({ token_endpoint: "https://idp/token" }) };
      }
      const refresh = new URLSearchParams(init!.body).get("refresh_token");
      if (refresh !== `refresh${issued}`) return { status: 400, body: '{"error":"invalid_grant"}' };
      issued++;
      const id_token = jwt({ exp: clock.now() / 1000 + 3600, n: issued });
      return { status: 200, body: JSON.stringify({ id_token, refresh_token: `refresh${issued}` }) };
    },
  };
}

test("an ID token is used until it expires, then renewed once for all, and the new ones are handed on", async () => {
  const clock = new VirtualClock();
  const { fetch, asked } = provider(clock);
  const saved: unknown[] = [];
  const idToken = jwt({ exp: clock.now() / 1000 + 60 });
  const config: OidcProvider = {
    issuerUrl: "https://idp/",
    clientId: "me",
    clientSecret: "s3cret",
    idToken,
    refreshToken: "refresh0",
    onRenewed: async (tokens) => void saved.push(tokens),
  };
  const source = new OidcCredentialSource(clock, config, fetch);
  assert.deepEqual(await source.get(), { authorization: `Bearer ${idToken}` });
  assert.equal(asked.length, 0);
  await clock.advance(55_000);
  const [one, two] = await Promise.all([source.get(), source.get()]);
  assert.deepEqual(one, two);
  assert.deepEqual(asked, [
    "https://idp/.well-known/openid-configuration",
    `https://idp/token grant_type=refresh_token&refresh_token=refresh0 Basic ${Buffer.from("me:s3cret").toString("base64")}`,
  ]);
  assert.equal(saved.length, 1);
  const renewed = await source.renew(one);
  assert.ok(renewed && renewed.authorization !== one.authorization);
  assert.deepEqual(await source.renew(one), renewed);
});

test("a provider that says no, or nothing, is an error about credentials", async () => {
  const clock = new VirtualClock();
  const base = { issuerUrl: "https://idp", clientId: "me" };
  await assert.rejects(new OidcCredentialSource(clock, base, provider(clock).fetch).get(), /log in again/);
  const stale = { ...base, refreshToken: "old" };
  await assert.rejects(
    new OidcCredentialSource(clock, stale, provider(clock).fetch).get(),
    /answered 400: .*invalid_grant/,
  );
  const away: ProviderFetch = () => Promise.reject(new Error("getaddrinfo ENOTFOUND idp"));
  await assert.rejects(
    new OidcCredentialSource(clock, stale, away).get(),
    (error: unknown) =>
      error instanceof TransportError && error.code === "credentials" && /ENOTFOUND/.test(error.message),
  );
});

test("renewed tokens go back into the kubeconfig, and nothing else in it changes", async () => {
  const file = join(folder, "kubeconfig");
  const text = (id: string, refresh: string) =>
    `# my clusters\nusers:\n  - name: other\n    user: {}\n  - name: me # that is me\n    user:\n      auth-provider:\n        name: oidc\n        config:\n          id-token: ${id}\n          refresh-token: ${refresh}\n`;
  writeFileSync(file, text("a", "b"), { mode: 0o600 });
  await saveOidcTokens(file, "me", { idToken: "c", refreshToken: "d" });
  assert.equal(readFileSync(file, "utf8"), text("c", "d"));
});
