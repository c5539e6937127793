import assert from "node:assert/strict";
import { ConfigMap } from "konverge/kinds";
import type { Place } from "../test/place.ts";
import { Launch, launches } from "./steps.ts";

export async function scenario({ client, namespace, install, run, until }: Place): Promise<void> {
  await install(Launch);
  const log: string[] = [];
  const key = `${namespace}/l`;
  let dry = true;
  const ground = {
    async book(site: string) {
      log.push(`book ${site}`);
      return "ticket-7";
    },
    async fuel(ticket: string) {
      if (dry) throw new Error("the tank is empty");
      log.push(`fuel ${ticket}`);
    },
  };
  const first = await run(launches(ground));
  await client.create(Launch.new({ metadata: { name: "l", namespace }, spec: { site: "north" } }));
  const ready = async () => (await client.get(Launch, key)).status?.conditions?.find(({ type }) => type === "Ready");
  await until("a step waits", async () => (await ready())?.reason === "StepRetrying");
  assert.match((await ready())?.message ?? "", /step fuel failed on attempt \d: the tank is empty/);
  let stopped = false;
  void first.stop().then(() => {
    stopped = true;
  });
  await until("the operator has stopped", () => stopped);
  dry = false;
  await run(launches(ground));
  await until("it is launched", async () => (await ready())?.status === "True");
  assert.deepEqual(log, ["book north", "fuel ticket-7"]);
  assert.equal((await client.get(ConfigMap, `${namespace}/l-launched`)).data?.["site"], "north");
}
