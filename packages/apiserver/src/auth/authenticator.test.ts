import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import type { AnyObject } from "@konverge/core";
import { emptyStore, putObjects, removeObject } from "../../test/role-store.ts";
import { AccessControl, type AccessControlOptions } from "./access-control.ts";
import type { Peer } from "./peer.ts";
import { reviewToken } from "./reviews/identity-reviews.ts";
import { requestToken } from "./reviews/token-request.ts";
import { isSignedBy, parseJwt, signJwt, tokenKey } from "./tokens/jwt.ts";
import { ServiceAccountTokens } from "./tokens/service-account-tokens.ts";
import { parseTokenFile } from "./tokens/static-tokens.ts";

const here: Peer = { address: "127.0.0.1" };
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const meta = (name: string, uid: string, more: object = {}) => ({ metadata: { name, namespace: "a", uid, ...more } });

function setup(options: Partial<AccessControlOptions> = {}) {
  const { store, clock } = emptyStore();
  putObjects(store, "/serviceaccounts", meta("robot", "sa-1"));
  putObjects(store, "/pods", { ...meta("p", "pod-1"), spec: { serviceAccountName: "robot", nodeName: "n1" } });
  putObjects(store, "/secrets", meta("s", "secret-1"));
  putObjects(store, "/nodes", { metadata: { name: "n1", uid: "node-1" } });
  const access = new AccessControl({ store, clock, ...options });
  const request = (spec: object) => {
    const object = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: {}, spec };
    const call = { namespace: "a", name: "robot", object: object as unknown as AnyObject };
    return (requestToken(store, clock, access.serviceAccounts, call)["status"] as { token: string }).token;
  };
  const bound = (kind: string, name: string) => request({ boundObjectRef: { kind, apiVersion: "v1", name } });
  const error = (token: string) => access.authenticator.authenticateToken(token).error;
  const wait = async (seconds: number) => {
    clock.after(seconds * 1000, () => {});
    await clock.step();
  };
  return { store, clock, access, request, bound, error, wait };
}

test("a client certificate of our authority names the user and the groups", () => {
  const { access } = setup();
  const certificate = { commonName: "jane", organizations: ["devs"], fingerprint: "ab12" };
  assert.deepEqual(access.authenticate({ headers: {} }, { ...here, certificate }), {
    name: "jane",
    groups: ["devs", "system:authenticated"],
    extra: { "authentication.kubernetes.io/credential-id": ["X509SHA256=ab12"] },
  });
  const bad = { ...here, certificate: { ...certificate, problem: "self-signed certificate" } };
  assert.throws(() => access.authenticate({ headers: {} }, bad), { code: 401 });
  assert.throws(() => access.authenticate(bearer("wrong"), { ...here }), { code: 401, reason: "Unauthorized" });
});

test("a good token outweighs a bad certificate, and other schemes than Bearer are ignored", () => {
  const { access } = setup({ tokens: [{ token: "good", user: { name: "t", groups: [] } }] });
  const certificate = { commonName: "jane", organizations: [], fingerprint: "", problem: "expired" };
  assert.equal(access.authenticate(bearer("good"), { ...here, certificate }).name, "t");
  const basic = { headers: { authorization: "Basic Zm9vOmJhcg==" } };
  assert.equal(access.authenticate(basic, here).name, "system:anonymous");
  assert.equal(access.authenticate({ headers: { authorization: "bearer good" } }, here).name, "t");
  assert.throws(() => setup({ anonymous: false }).access.authenticate({ headers: {} }, here), { code: 401 });
});

test("browsers bring their token as a WebSocket subprotocol", () => {
  const { access } = setup({ tokens: [{ token: "good", user: { name: "t", groups: [] } }] });
  const upgrade = [
    "v5.channel.k8s.io",
    `base64url.bearer.authorization.k8s.io.${Buffer.from("good").toString("base64url")}`,
  ];
  assert.equal(access.authenticate({ headers: {}, upgrade }, here).name, "t");
});

test("a service account's token has its name and the pod and node it is bound to", () => {
  const { access, bound } = setup();
  const user = access.authenticate(bearer(bound("Pod", "p")), here);
  assert.equal(user.name, "system:serviceaccount:a:robot");
  assert.equal(user.uid, "sa-1");
  assert.deepEqual(user.groups, ["system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"]);
  const { "authentication.kubernetes.io/credential-id": id, ...extra } = user.extra ?? {};
  assert.match(id?.[0] ?? "", /^JTI=[-0-9a-f]{36}$/);
  assert.deepEqual(extra, {
    "authentication.kubernetes.io/node-name": ["n1"],
    "authentication.kubernetes.io/node-uid": ["node-1"],
    "authentication.kubernetes.io/pod-name": ["p"],
    "authentication.kubernetes.io/pod-uid": ["pod-1"],
  });
});

test("a token ends with its time, by the clock", async () => {
  const { request, error, wait } = setup();
  const token = request({ expirationSeconds: 600 });
  await wait(660);
  assert.equal(error(token), undefined, "within a minute of leeway");
  await wait(1);
  assert.equal(error(token), "service account token has expired");
});

test("a token ends with what it is bound to", () => {
  const { store, bound, request, error } = setup();
  const [plain, pod, secret, node] = [request({}), bound("Pod", "p"), bound("Secret", "s"), bound("Node", "n1")];
  for (const token of [plain, pod, secret, node]) assert.equal(error(token), undefined);
  removeObject(store, "/pods", "a/p");
  removeObject(store, "/nodes", "n1");
  putObjects(store, "/secrets", meta("s", "secret-2"));
  assert.equal(error(plain), undefined);
  assert.equal(error(pod), "service account token has been invalidated");
  assert.equal(error(node), "service account token has been invalidated");
  assert.equal(error(secret), "secret UID (secret-2) does not match service account secret ref claim (secret-1)");
  putObjects(store, "/serviceaccounts", meta("robot", "sa-2"));
  assert.equal(error(plain), "service account UID (sa-2) does not match claim (sa-1)");
  removeObject(store, "/serviceaccounts", "a/robot");
  assert.equal(error(plain), 'serviceaccounts "robot" not found');
});

test("a pod that is being deleted keeps its token until its grace period is over", async () => {
  const { store, clock, bound, error, wait } = setup();
  const token = bound("Pod", "p");
  const deletionTimestamp = new Date(clock.now() + 30_000).toISOString();
  putObjects(store, "/pods", meta("p", "pod-1", { deletionTimestamp }));
  await wait(89);
  assert.equal(error(token), undefined);
  await wait(2);
  assert.equal(error(token), "service account token has been invalidated");
});

test("tokens are for their audience alone", () => {
  const { access, request, error } = setup();
  const token = request({ audiences: ["vault", "registry"] });
  assert.match(error(token)!, /^token audiences \["vault" "registry"\] is invalid for the target audiences/);
  assert.throws(() => access.authenticate(bearer(token), here), { code: 401 });
  assert.deepEqual(access.authenticator.authenticateToken(token, ["vault", "x"]).audiences, ["vault"]);
});

test("no other signature is valid, whatever algorithm a token claims", () => {
  const { access, request, error } = setup();
  const [header, claims] = request({}).split(".") as [string, string];
  const other = tokenKey(generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey);
  const forged = signJwt(other, JSON.parse(Buffer.from(claims, "base64url").toString()));
  assert.equal(error(forged), "invalid signature, no keys found");
  const signature = forged.split(".")[2];
  assert.match(error(`${header}.${claims}.${signature}`)!, /cryptographic primitive/);
  const kid = JSON.parse(Buffer.from(header, "base64url").toString()).kid;
  for (const alg of ["none", "HS256", "RS256"]) {
    const lying = Buffer.from(JSON.stringify({ alg, kid })).toString("base64url");
    assert.match(error(`${lying}.${claims}.${signature}`)!, /cryptographic primitive/);
  }
  const good = request({});
  assert.ok(access.authenticator.authenticateToken(good).user);
  for (const text of ["", "a.b", "a.b.c", "....", "e30.e30.e30", `${good}=`, `${good},`, `${good}\n`, `${good}.`]) {
    assert.deepEqual(access.authenticator.authenticateToken(text), {}, text);
  }
});

test("keys of all kinds that Kubernetes knows sign and verify", () => {
  const keys = [
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey,
    ...["prime256v1", "secp384r1", "secp521r1"].map(
      (namedCurve) => generateKeyPairSync("ec", { namedCurve }).privateKey,
    ),
  ].map((key) => tokenKey(key.export({ type: "pkcs8", format: "pem" }) as string));
  assert.deepEqual(
    keys.map(({ algorithm }) => algorithm),
    ["RS256", "ES256", "ES384", "ES512"],
  );
  for (const key of keys) {
    const token = signJwt(key, { iss: "x" });
    const verifier = tokenKey(key.publicKey.export({ type: "spki", format: "pem" }) as string);
    assert.equal(verifier.id, key.id);
    assert.ok(isSignedBy(verifier, parseJwt(token)!));
    assert.ok(!isSignedBy(verifier, parseJwt(`${token.slice(0, -12)}AAAAAAAAAAAA`)!));
  }
  assert.throws(() => tokenKey(generateKeyPairSync("ed25519").privateKey), /use RSA, or EC/);
  assert.throws(() => tokenKey("nonsense"), /is no PEM/);
});

test("tokens of an older key are good as long as that key is known", () => {
  const { store, clock } = setup();
  const old = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const before = new ServiceAccountTokens({ store, clock, signingKey: old.privateKey });
  const subject = { namespace: "a", serviceAccount: { name: "robot", uid: "sa-1" } };
  const { token } = before.issue(subject, { seconds: 3600 }, before.audiences);
  const rotated = new ServiceAccountTokens({ store, clock, verificationKeys: [old.publicKey] });
  assert.equal(rotated.authenticate(token).user?.name, "system:serviceaccount:a:robot");
  const forgotten = new ServiceAccountTokens({ store, clock });
  assert.equal(forgotten.authenticate(token).error, "invalid signature, no keys found");
  assert.equal((rotated.jsonWebKeys() as { keys: unknown[] }).keys.length, 2);
});

test("the token in a Secret is good for as long as the Secret holds it", () => {
  const { store, access, error } = setup();
  const secret = { namespace: "a", secretName: "legacy", serviceAccount: { name: "robot", uid: "sa-1" } };
  const token = access.serviceAccounts.issueLegacy(secret);
  assert.equal(error(token), "Token has been invalidated");
  const data = (text: string) => ({ data: { token: Buffer.from(text).toString("base64") } });
  putObjects(store, "/secrets", { ...meta("legacy", "l"), ...data(token) });
  assert.equal(access.authenticate(bearer(token), here).name, "system:serviceaccount:a:robot");
  putObjects(store, "/secrets", { ...meta("legacy", "l"), ...data("another") });
  assert.equal(error(token), "Token does not match server's copy");
});

test("bootstrap tokens work where they are switched on, until they expire", async () => {
  const { store, access, wait, clock } = setup({ bootstrapTokens: true });
  const encode = (fields: Record<string, string>) =>
    Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));
  const expiration = new Date(clock.now() + 60_000).toISOString();
  putObjects(store, "/secrets", {
    metadata: { name: "bootstrap-token-abcdef", namespace: "kube-system" },
    type: "bootstrap.kubernetes.io/token",
    data: encode({
      "token-id": "abcdef",
      "token-secret": "0123456789abcdef",
      "usage-bootstrap-authentication": "true",
      "auth-extra-groups": "system:bootstrappers:workers",
      expiration,
    }),
  });
  const user = access.authenticate(bearer("abcdef.0123456789abcdef"), here);
  assert.equal(user.name, "system:bootstrap:abcdef");
  assert.deepEqual(user.groups, ["system:bootstrappers", "system:bootstrappers:workers", "system:authenticated"]);
  assert.throws(() => access.authenticate(bearer("abcdef.0123456789abcdee"), here), { code: 401 });
  await wait(61);
  assert.throws(() => access.authenticate(bearer("abcdef.0123456789abcdef"), here), { code: 401 });
  const off = new AccessControl({ store, clock });
  assert.throws(() => off.authenticate(bearer("abcdef.0123456789abcdef"), here), { code: 401 });
});

test("token files have a line for each user", () => {
  assert.deepEqual(parseTokenFile('t1,jane,u1,"devs,ops"\n\nt2,bob,\r\n"t,3", carol ,u3,solo\n'), [
    { token: "t1", user: { name: "jane", uid: "u1", groups: ["devs", "ops"] } },
    { token: "t2", user: { name: "bob", groups: [] } },
    { token: "t,3", user: { name: "carol", uid: "u3", groups: ["solo"] } },
  ]);
  assert.throws(() => parseTokenFile("t1,jane"), /line 1 .* at least three columns/);
});

test("a TokenReview returns the user of a token, or the error", () => {
  const { access, request } = setup();
  const review = (spec: object) =>
    reviewToken(access.authenticator, access.serviceAccounts, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      metadata: {} as AnyObject["metadata"],
      spec,
    })()["status"];
  assert.partialDeepStrictEqual(review({ token: request({}) }), {
    authenticated: true,
    user: { username: "system:serviceaccount:a:robot" },
    audiences: ["https://kubernetes.default.svc.cluster.local"],
  });
  assert.deepEqual(review({ token: "x" }), { user: {}, error: "invalid bearer token" });
  assert.throws(() => review({}), { code: 400, message: "token is required for TokenReview in authentication" });
});
