import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { identifier, integer, time } from "../der/write.ts";
import { Authority, createAuthority } from "./authority.ts";

const clock = new VirtualClock();
const authority = createAuthority(clock);
const ca = new X509Certificate(authority.cert);
const NAMES = [
  "localhost",
  "127.0.0.1",
  "::1",
  "kubernetes.default.svc",
  "kubernetes.default.svc.cluster.local",
  "fd00:12::34",
];

test("an authority signs itself, and says what it may do", () => {
  assert.ok(ca.ca);
  assert.ok(ca.verify(ca.publicKey));
  assert.equal(ca.subject, "CN=kubernetes");
  assert.deepEqual(
    [ca.validFromDate, ca.validToDate],
    [new Date("2025-12-31T23:00:00Z"), new Date("2035-12-30T00:00:00Z")],
  );
});

test("a client certificate has the kind of key that its user's programs can read", () => {
  const types = (["ec", "rsa"] as const).map((algorithm) => {
    const { cert, key } = authority.client("x", [], algorithm);
    const certificate = new X509Certificate(cert);
    assert.ok(certificate.verify(ca.publicKey) && certificate.checkPrivateKey(createPrivateKey(key)));
    return certificate.publicKey.asymmetricKeyType;
  });
  assert.deepEqual(types, ["ec", "rsa"]);
});

test("a serving certificate is for all names of the server, and for serving alone", () => {
  const { cert, key } = authority.server("kube-apiserver", NAMES);
  const certificate = new X509Certificate(cert);
  assert.ok(certificate.checkIssued(ca) && certificate.verify(ca.publicKey));
  assert.ok(!certificate.ca);
  assert.ok(key.includes("PRIVATE KEY"));
  for (const name of ["localhost", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"]) {
    assert.equal(certificate.checkHost(name), name);
  }
  for (const address of ["127.0.0.1", "::1", "fd00:12::34"]) assert.ok(certificate.checkIP(address), address);
  assert.equal(certificate.checkHost("example.com"), undefined);
  assert.equal(certificate.checkIP("10.0.0.1"), undefined);
  assert.deepEqual(certificate.keyUsage, ["1.3.6.1.5.5.7.3.1"]);
  assert.match(certificate.toLegacyObject().serialNumber, /^[0-7]?[0-9A-F]{15,31}$/);
});

test("a client certificate names a user and its groups, in any letters", () => {
  const client = new X509Certificate(authority.client("jürgen <x>", ["system:masters", "a, b"]).cert);
  assert.ok(client.checkIssued(ca) && client.verify(ca.publicKey));
  const { CN, O } = client.toLegacyObject().subject as unknown as { CN: string; O: string[] };
  assert.equal(CN, "jürgen <x>");
  assert.deepEqual(O, ["system:masters", "a, b"]);
  assert.deepEqual(client.keyUsage, ["1.3.6.1.5.5.7.3.2"]);
});

test("an authority can be loaded from its files, and goes on as the same one", () => {
  const again = new Authority({ cert: authority.cert, key: authority.key }, clock);
  const certificate = new X509Certificate(again.client("x").cert);
  assert.ok(certificate.checkIssued(ca) && certificate.verify(ca.publicKey));
});

test("files that do not belong together, or are no authority's, are refused", () => {
  const other = createAuthority(clock);
  assert.throws(() => new Authority({ cert: authority.cert, key: other.key }, clock), /does not belong/);
  assert.throws(() => new Authority(authority.client("x"), clock), /must say that it is one/);
});

test("an authority may have an RSA key, and no key that TLS does not know", () => {
  const pem = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" }) as string;
  const rsa = createAuthority(clock, { key: pem(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey) });
  const issuer = new X509Certificate(rsa.cert);
  const certificate = new X509Certificate(rsa.client("x").cert);
  assert.ok(issuer.verify(issuer.publicKey) && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey));
  const unsuited = pem(generateKeyPairSync("x25519").privateKey);
  assert.throws(() => createAuthority(clock, { key: unsuited }), /use an EC or RSA key/);
});

test("numbers, identifiers and times are written in DER", () => {
  const hex = (bytes: Buffer) => bytes.toString("hex");
  assert.equal(hex(integer(Buffer.from([0, 0, 0x7f]))), "02017f");
  assert.equal(hex(integer(Buffer.from([0x80]))), "02020080");
  assert.equal(hex(identifier("1.2.840.113549.1.1.11")), "06092a864886f70d01010b");
  assert.equal(time(Date.UTC(2049, 11, 31)).toString("latin1"), "\x17\x0d491231000000Z");
  assert.equal(time(Date.UTC(2050, 0, 1)).toString("latin1"), "\x18\x0f20500101000000Z");
});
