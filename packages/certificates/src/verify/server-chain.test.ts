import assert from "node:assert/strict";
import { test } from "node:test";
import { make, rsaKeys } from "../../test/make-certificate.ts";
import { parseCertificate } from "../read/certificate.ts";
import { CertPool } from "./cert-pool.ts";
import { serverChainProblem } from "./server-chain.ts";

const root = make({ subject: "root", ca: true });
const server = make({ hosts: ["a.example.com"], issuer: root });
const options = {
  roots: new CertPool([parseCertificate(root.raw)]),
  host: "a.example.com",
  now: Date.parse("2026-06-01"),
};

test("a server with a good certificate is spoken to", () => {
  assert.equal(serverChainProblem([server.raw], options), undefined);
  assert.equal(serverChainProblem([server.raw, root.raw], options), undefined);
});

test("problems are worded as Go's TLS words them", () => {
  assert.equal(
    serverChainProblem([server.raw], { ...options, host: "b.example.com" }),
    "tls: failed to verify certificate: x509: certificate is valid for a.example.com, not b.example.com",
  );
  assert.equal(
    serverChainProblem([server.raw, server.raw.subarray(1)], options),
    "tls: failed to parse certificate from server: x509: malformed certificate",
  );
  assert.equal(serverChainProblem([], options), "tls: received empty certificates message");
});

test("without roots any certificate will do, but it has to be readable and its key large enough", () => {
  const untrusted = { ...options, roots: undefined };
  assert.equal(serverChainProblem([make().raw], untrusted), undefined);
  assert.match(serverChainProblem([Buffer.from("x")], untrusted)!, /^tls: failed to parse certificate from server: /);
  assert.equal(
    serverChainProblem([make({ keys: rsaKeys(768) }).raw], untrusted),
    "tls: invalid signature by the server certificate: crypto/rsa: 768-bit keys are insecure " +
      "(see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)",
  );
});
