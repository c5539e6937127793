import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client } from "konverge/client";
import type { Pod } from "konverge/kinds";
import { VirtualClock } from "konverge/time";
import { askByExec } from "./server-report.ts";

/** A client whose connections into pods never come about. */
const unreachable = { exec: () => new Promise(() => {}) } as unknown as Client;

const podWith = (conditions: Record<string, "True" | "False">) =>
  ({
    metadata: { name: "db-0", namespace: "data" },
    status: { conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })) },
  }) as unknown as Pod;

/** Virtual seconds until a server is taken for silent. */
async function patience(pod: Pod): Promise<number> {
  const clock = new VirtualClock();
  const begun = clock.now();
  let silentAt: number | undefined;
  const asked = askByExec(pod, unreachable, clock).then((said) => {
    assert.equal(said, undefined);
    silentAt = clock.now();
  });
  while (silentAt === undefined) await clock.advance(1_000);
  await asked;
  return (silentAt - begun) / 1000;
}

test("a server has ten seconds to answer, and two if its node no longer reports", async () => {
  assert.equal(await patience(podWith({ ContainersReady: "True", Ready: "True" })), 10);
  assert.equal(await patience(podWith({ ContainersReady: "False", Ready: "False" })), 10);
  assert.equal(await patience(podWith({ ContainersReady: "True", Ready: "False" })), 2);
});
