import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createPublicKey, sign, verify } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { realClock } from "konverge/time";
import { newSshKey } from "./ssh-key.ts";

test("the keys of a job are a pair, and each job has its own", () => {
  const { secrets } = realClock();
  const { privateKey, publicKey } = newSshKey(secrets);
  const signature = sign("sha512", Buffer.from("hello"), privateKey);
  assert.ok(verify("sha512", Buffer.from("hello"), createPublicKey(privateKey), signature));
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  const blob = Buffer.from(publicKey.split(" ")[1]!, "base64");
  assert.deepEqual(blob.subarray(-132, -66), Buffer.from(x!, "base64url"));
  assert.notEqual(newSshKey(secrets).privateKey, privateKey);
});

const KEYGEN = ["/usr/bin/ssh-keygen", "/bin/ssh-keygen"].find(existsSync);

test("OpenSSH derives the same public key", { skip: !KEYGEN && "there is no ssh-keygen" }, () => {
  const { privateKey, publicKey } = newSshKey(realClock().secrets);
  const folder = mkdtempSync(join(tmpdir(), "konverge-ssh-"));
  try {
    const file = join(folder, "id_rsa");
    writeFileSync(file, privateKey, { mode: 0o600 });
    assert.equal(execFileSync(KEYGEN!, ["-y", "-f", file], { encoding: "utf8" }).trim(), publicKey.trim());
  } finally {
    rmSync(folder, { recursive: true });
  }
});
