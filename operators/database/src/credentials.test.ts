import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, realClock, VirtualClock } from "konverge/time";
import { credentialsFor } from "./credentials.ts";
import { Database } from "./database.ts";
import { engineOf } from "./engines.ts";

const database = Database.new({
  metadata: { name: "orders", namespace: "default" },
  spec: { engine: "postgres", version: "16", size: "1Gi" },
}) as unknown as Database;

function passwords({ secrets }: Clock): string[] {
  const { data } = credentialsFor(database, engineOf(database), {
    live: undefined,
    secrets,
    now: 0,
    reportedDigest: undefined,
  });
  return ["password", "replication-password", "monitor-password"].map((key) =>
    Buffer.from(data?.[key] ?? "", "base64").toString(),
  );
}

test("on a real clock no seed repeats a password", () => {
  const all = [...passwords(realClock(7)), ...passwords(realClock(7))];
  assert.equal(new Set(all).size, 6);
  for (const password of all) assert.match(password, /^[A-Za-z2-9]{24}$/);
});

test("in virtual time a run repeats its passwords", () => {
  assert.deepEqual(passwords(new VirtualClock({ seed: 7 })), passwords(new VirtualClock({ seed: 7 })));
});
