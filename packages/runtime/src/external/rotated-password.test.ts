import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import type { Secret } from "@konverge/kinds";
import { type RotatedPasswordOptions, rotatedPassword } from "./rotated-password.ts";

const metadata = { name: "login", namespace: "default" };
/** As it is observed when the child has been applied. */
const passwordIn = (stored: object | undefined, options: RotatedPasswordOptions) =>
  rotatedPassword(stored as Secret | undefined, options);
const valuesOf = (secret: { data?: unknown }) =>
  Object.fromEntries(
    Object.entries((secret.data ?? {}) as Record<string, string>).map(([key, text]) => [
      key,
      Buffer.from(text, "base64").toString(),
    ]),
  );

test("a password is stored before it is set, and stays", () => {
  const clock = new VirtualClock();
  const first = passwordIn(undefined, { clock });
  assert.equal(first.toSet, undefined);
  const stored = first.secret(metadata, { username: "ann" }, false);
  const { username, password } = valuesOf(stored);
  assert.deepEqual([username, password?.length], ["ann", 24]);
  const second = passwordIn(stored, { clock });
  assert.equal(second.toSet, password);
  assert.deepEqual(second.secret(metadata, { username: "ann" }, true), stored);
});

test("a rotation writes the next password beside the one in use, and ends when the next one is set", () => {
  const clock = new VirtualClock();
  const options = { clock, rotateEvery: 60_000 };
  const stored = passwordIn(undefined, options).secret(metadata, {}, false);
  const { password: old } = valuesOf(stored);
  // In the past, as if the time had passed.
  const since = new Date(clock.now() - 60_000).toISOString();
  const due = { ...stored, metadata: { ...metadata, annotations: { "konverge.dev/password-since": since } } };
  const begun = passwordIn(due, options);
  assert.equal(begun.toSet, undefined);
  const beside = begun.secret(metadata, {}, false);
  const { password, "next-password": next } = valuesOf(beside);
  assert.equal(password, old);
  assert.notEqual(next, old);
  // However often the process dies here, the next one sets the same password.
  for (let i = 0; i < 2; i++) assert.equal(passwordIn(beside, options).toSet, next);
  assert.deepEqual(valuesOf(passwordIn(beside, options).secret(metadata, {}, false)), {
    password,
    "next-password": next,
  });
  const ended = passwordIn(beside, options).secret(metadata, {}, true);
  assert.deepEqual(valuesOf(ended), { password: next });
  assert.equal(passwordIn(ended, options).toSet, next);
});

test("another request rotates once, and a password that is there already is kept", () => {
  const clock = new VirtualClock();
  const given = { metadata, data: { password: Buffer.from("chosen").toString("base64") } };
  assert.equal(passwordIn(given, { clock }).toSet, "chosen");
  const stored = passwordIn(undefined, { clock, request: "1" }).secret(metadata, {}, false);
  assert.equal(passwordIn(stored, { clock, request: "1" }).toSet, valuesOf(stored)["password"]);
  const asked = { clock, request: "2" };
  const beside = passwordIn(stored, asked).secret(metadata, {}, false);
  const ended = passwordIn(beside, asked).secret(metadata, {}, true);
  assert.deepEqual(valuesOf(ended), { password: valuesOf(beside)["next-password"] });
  assert.equal(passwordIn(ended, asked).toSet, valuesOf(ended)["password"]);
});

test("a password whose age was removed counts as new, and is rotated when its time is over", () => {
  const clock = new VirtualClock();
  const options = { clock, rotateEvery: 60_000 };
  const stored = passwordIn(undefined, options).secret(metadata, {}, false);
  for (const annotations of [undefined, { "konverge.dev/password-since": "yesterday" }]) {
    const undated = { ...stored, metadata: { ...metadata, ...(annotations && { annotations }) } };
    assert.deepEqual(passwordIn(undated, options).secret(metadata, {}, true), stored);
  }
});
