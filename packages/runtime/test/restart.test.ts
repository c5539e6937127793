import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiServer } from "@konverge/apiserver";
import { Client } from "@konverge/client";
import { realClock, sleep, type Transport } from "@konverge/core";
import { ConfigMap, CustomResourceDefinition, Namespace } from "@konverge/kinds";
import { controller, type Observer, run, silentLog } from "@konverge/runtime";
import { configMap, Widget } from "./stage.ts";

/** How many objects to try it with. Thousands go the same way, and take their time. */
const COUNT = Number(process.env["KONVERGE_SCALE"] ?? 500);

const copies = () =>
  controller(Widget, {
    name: "copies",
    owns: [ConfigMap],
    reconcile: ({ metadata, spec }) => ({
      children: [configMap(metadata.name, { text: spec.text })],
      status: { text: spec.text },
    }),
  });

// On the machine's own clock: with thousands of objects, one turn of the event loop for each virtual step takes longer.
test(`${COUNT} objects take the necessary writes, and a restart over them none, and no read but the lists`, async () => {
  const clock = realClock();
  const server = new ApiServer({ clock });
  const user = new Client(server.transport, { clock });
  await user.create(CustomResourceDefinition, Widget.crd() as never);
  await user.create(Namespace, { metadata: { name: "default" } }).catch(() => {});
  const until = async (what: string, condition: () => Promise<boolean> | boolean) => {
    const end = clock.monotonic() + 300_000;
    while (!(await condition())) {
      if (clock.monotonic() > end) assert.fail(`it never came true that ${what}`);
      await sleep(clock, 10);
    }
  };
  await until("the kind is served", () =>
    user.list(Widget).then(
      () => true,
      () => false,
    ),
  );
  for (let i = 0; i < COUNT; i++) {
    await user.create(Widget.new({ metadata: { name: `w${i}`, namespace: "default" }, spec: { text: "1" } }));
  }
  const requests: string[] = [];
  const noted: Transport = (request) => {
    requests.push(`${request.method}${request.path.includes("watch=true") ? " watch" : ""}`);
    return server.transport(request);
  };
  const writes = () => requests.filter((request) => request === "PATCH").length;
  const looks = new Set<string>();
  const observer: Observer = {
    reconciling: ({ key }) => {
      looks.add(key);
      return undefined;
    },
  };
  const client = new Client(noted, { clock });
  const isIdle = (manager: Awaited<ReturnType<typeof run>>) =>
    looks.size === COUNT && [...manager.controllers()].every(({ depth, working }) => depth + working === 0);
  {
    await using manager = await run(copies(), { client, log: silentLog, observers: [observer] });
    await until("all objects have their copy", () => isIdle(manager) && writes() >= 2 * COUNT);
  }
  assert.equal(writes(), 2 * COUNT);
  assert.equal((await user.list(ConfigMap, { namespace: "default" })).items.length, COUNT);
  requests.length = 0;
  looks.clear();
  {
    await using manager = await run(copies(), { client, log: silentLog, observers: [observer] });
    await until("all objects have been looked at again", () => isIdle(manager));
  }
  assert.deepEqual(requests, ["GET watch", "GET watch"]);
  server.close();
});
