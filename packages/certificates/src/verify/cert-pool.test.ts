import assert from "node:assert/strict";
import { test } from "node:test";
import { make } from "../../test/make-certificate.ts";
import { pem } from "../pem.ts";
import { parseCertificate } from "../read/certificate.ts";
import { certPoolFromPem } from "./cert-pool.ts";

const good = make({ subject: "good", ca: true });
const bundle = (...blocks: [string, Buffer][]) => blocks.map(([type, bytes]) => pem(type, bytes)).join("");

test("a bundle is what can be read of it", () => {
  const pool = certPoolFromPem(
    bundle(["KEY", Buffer.from("x")], ["CERTIFICATE", Buffer.from("x")], ["CERTIFICATE", good.raw]),
  );
  assert.ok(pool.has(parseCertificate(good.raw)));
});

test("a bundle without a certificate is refused in client-go's words", () => {
  const refused = (text: string, message: string) =>
    assert.throws(() => certPoolFromPem(text), { message: `unable to load root certificates: ${message}` });
  refused("not PEM", "unable to parse bytes as PEM block");
  refused(bundle(["KEY", good.raw]), "no valid certificate authority data seen");
  refused(bundle(["CERTIFICATE", good.raw.subarray(1)]), "failed to parse certificate: x509: malformed certificate");
});
