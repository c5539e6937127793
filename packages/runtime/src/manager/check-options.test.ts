import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@konverge/client";
import { VirtualClock } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { controller } from "../definition/controller.ts";
import type { Controller } from "../definition/definition.ts";
import { Manager } from "./manager.ts";
import type { ManagerOptions } from "./options.ts";

const client = new Client(() => new Promise(() => {}), { clock: new VirtualClock() });
const maps = controller(ConfigMap, { reconcile: () => undefined });

test("a manager with impossible options is refused, with what to pass instead", () => {
  const wrong = (options: Partial<ManagerOptions>, controllers: readonly Controller[] = [maps]) => {
    return () => new Manager(controllers, { client, ...options });
  };
  for (const [refused, why] of [
    [() => new Manager([maps], undefined as never), /a manager needs a `client`/],
    [wrong({ client: undefined as never }), /a manager needs a `client`/],
    [wrong({ leaderElection: { name: "a" }, sharding: { name: "a" } }), /either `leaderElection` or `sharding`/],
    [wrong({ leaderElection: { name: "" } }), /`leaderElection` needs a `name`/],
    [
      wrong({ leaderElection: { name: "a", duration: 1500 } }),
      /`leaderElection.duration` is 1500: it must be a whole number of seconds/,
    ],
    [wrong({ sharding: { name: "a", duration: 0 } }), /`sharding.duration` is 0/],
    [wrong({ sharding: { name: "a", parts: 0 } }), /`sharding.parts` is 0/],
    [wrong({ namespaces: [] }), /`namespaces` is empty/],
    [wrong({ clusters: { home: client } }), /`clusters` has one called home/],
    [wrong({ gracefulShutdownTimeout: -1 }), /`gracefulShutdownTimeout` is -1/],
    [wrong({ syncTimeout: 0 }), /`syncTimeout` is 0/],
    [wrong({}, [undefined as never]), /controllers\[0\] is not a controller/],
    [wrong({}, [maps, maps]), /two controllers are called configmaps/],
    [
      wrong({ clusters: { east: client } }, [
        controller(ConfigMap, { clusters: ["west"], reconcile: () => undefined }),
      ]),
      /configmaps uses the cluster west, but the manager only has home, east/,
    ],
  ] as const)
    assert.throws(refused, why);
});

test("a manager starts once", async () => {
  const manager = new Manager([], { client });
  await manager.start();
  await assert.rejects(manager.start(), /is already started/);
  await manager.stop();
  await assert.rejects(
    new Manager([], { client }).stop().then(() => manager.start()),
    /create a new one/,
  );
});
