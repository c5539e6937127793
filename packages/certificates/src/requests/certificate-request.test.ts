import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { createAuthority } from "../issue/authority.ts";
import { pem, pemBlocks } from "../pem.ts";
import { certificateRequest } from "./certificate-request.ts";
import { createCertificateRequest } from "./create-request.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const openssl = spawnSync("openssl", ["version"]).status === 0 ? false : "the openssl command is not installed";

test("a request is read as it was written, and proves that its sender has the key", () => {
  const { request } = createCertificateRequest("system:node:a", ["system:nodes"], ["a.example.com", "10.0.0.1"]);
  const read = certificateRequest(base64(request));
  assert.equal(read.commonName, "system:node:a");
  assert.deepEqual(read.organizations, ["system:nodes"]);
  assert.deepEqual(read.alternativeNames, { dns: ["a.example.com"], emails: 0, addresses: 1, uris: 0 });
  assert.equal(read.signatureProblem(), undefined);
});

test("an authority signs what is requested", () => {
  const clock = new VirtualClock();
  const authority = createAuthority(clock);
  const { request, key } = createCertificateRequest("jane", ["team-a"], ["a.example.com"]);
  const options = { usages: ["client auth", "digital signature"], from: clock.now(), until: clock.now() + 60_000 };
  const certificate = new X509Certificate(authority.sign(certificateRequest(base64(request)), options));
  assert.ok(certificate.verify(new X509Certificate(authority.cert).publicKey));
  assert.equal(certificate.subject, "O=team-a\nCN=jane");
  assert.equal(certificate.subjectAltName, "DNS:a.example.com");
  assert.ok(certificate.checkPrivateKey(createPrivateKey(key)));
});

test("a request with a changed subject has a wrong signature", () => {
  const { request } = createCertificateRequest("jane");
  const bytes = Buffer.from(pemBlocks(request)[0]!.bytes);
  bytes[bytes.indexOf("jane")] = 0x4a;
  const changed = certificateRequest(base64(pem("CERTIFICATE REQUEST", bytes)));
  assert.equal(changed.commonName, "Jane");
  assert.equal(changed.signatureProblem(), "x509: ECDSA verification failure");
});

test("what is no request is refused in Go's words", () => {
  const refused = (text: string, message: string) => assert.throws(() => certificateRequest(base64(text)), { message });
  refused("", "PEM block type must be CERTIFICATE REQUEST");
  refused(pem("CERTIFICATE", Buffer.from("x")), "PEM block type must be CERTIFICATE REQUEST");
  refused(pem("CERTIFICATE REQUEST", Buffer.from("x")), "asn1: structure error: tags don't match");
});

test("requests of the openssl command are read, with every kind of key", { skip: openssl }, () => {
  for (const key of [["rsa:2048"], ["ec", "-pkeyopt", "ec_paramgen_curve:secp384r1"], ["ed25519"]]) {
    const args = ["req", "-new", "-nodes", "-newkey", ...key, "-keyout", "/dev/null", "-subj", "/O=b/CN=a/O=c"];
    const request = certificateRequest(base64(execFileSync("openssl", args, { encoding: "utf8", stdio: "pipe" })));
    assert.deepEqual([request.commonName, request.organizations], ["a", ["b", "c"]]);
    assert.equal(request.signatureProblem(), undefined, key[0]);
  }
});
