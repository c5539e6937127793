import assert from "node:assert/strict";
import type { Place } from "../test/place.ts";
import { Ship, ships } from "./leader.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Ship);
  const leader = { name: "bridge", namespace, duration: 3_000 };
  const first = await run(ships("Ann"), { leaderElection: leader, identity: "one" });
  await until("the first leads", () => first.working);
  const second = await run(ships("Bob"), { leaderElection: leader, identity: "two" });
  await client.create(Ship.new({ metadata: { name: "s", namespace }, spec: { course: 1 } }));
  const captain = async () => (await client.get(Ship, `${namespace}/s`)).status?.captain;
  await until("the first acts", async () => (await captain()) === "Ann");
  assert.ok(second.standby);
  void first.stop();
  await until("the second acquires the lease", async () => second.working && (await captain()) === "Bob");
}
