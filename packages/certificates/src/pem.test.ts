import assert from "node:assert/strict";
import { test } from "node:test";
import { pem, pemBlocks } from "./pem.ts";

const types = (text: string) => pemBlocks(text).map(({ type, bytes }) => `${type}: ${bytes}`);

test("blocks are found among other text, whatever their line ends", () => {
  const text = `subject=CN = x\n${pem("CERTIFICATE", Buffer.from("one"))}\r\n-----BEGIN KEY-----  \r\ndHdv\r\n-----END KEY-----\r\n`;
  assert.deepEqual(types(text), ["CERTIFICATE: one", "KEY: two"]);
});

test("a block is written in lines of 64 characters, and read again", () => {
  const bytes = Buffer.alloc(100, 7);
  const text = pem("CERTIFICATE", bytes);
  assert.deepEqual(
    text.split("\n").map(({ length }) => length),
    [27, 64, 64, 8, 25, 0],
  );
  assert.deepEqual(pemBlocks(text), [{ type: "CERTIFICATE", hasHeaders: false, bytes }]);
});

test("headers are noted, and are no part of the data", () => {
  const text =
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: x\n\nb25l\n-----END RSA PRIVATE KEY-----\n";
  assert.deepEqual(pemBlocks(text), [{ type: "RSA PRIVATE KEY", hasHeaders: true, bytes: Buffer.from("one") }]);
});

test("blocks without an end, with another end or with other characters are skipped", () => {
  const good = pem("CERTIFICATE", Buffer.from("good"));
  for (const bad of [
    "-----BEGIN CERTIFICATE-----\nb25l\n",
    "-----BEGIN CERTIFICATE-----\nb25l\n-----END KEY-----\n",
    "-----BEGIN CERTIFICATE-----\nb25?\n-----END CERTIFICATE-----\n",
    "-----BEGIN CERTIFICATE-----\nb25\n-----END CERTIFICATE-----\n",
    "-----BEGIN CERTIFICATE\nb25l\n-----END CERTIFICATE-----\n",
    "x-----BEGIN CERTIFICATE-----\nb25l\n-----END CERTIFICATE-----\n",
  ]) {
    assert.deepEqual(types(bad + good), ["CERTIFICATE: good"], bad);
  }
});
