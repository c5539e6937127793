import assert from "node:assert/strict";
import { type AnyObject, isNotFound, type KindRef, type KubeObject } from "@konverge/core";
import { ConfigMap, CustomResourceDefinition, Pod } from "@konverge/kinds";
import { Event } from "@konverge/kinds/events.v1";
import { kubeRs } from "./catalogue.ts";
import { echo } from "./echo.ts";
import { onBothServers, type Stories } from "./on-both-servers.ts";

interface Lantern extends AnyObject {
  spec: { lumen: number };
  status?: { observedGeneration?: number; settings?: string };
}
const Lantern: KindRef<Lantern> = {
  group: "peers.example.com",
  version: "v1",
  kind: "Lantern",
  plural: "lanterns",
  namespaced: true,
};

const objects: Stories = {
  "an operator in Rust installs its kind and keeps what it owns as it should be": async ({ stage, peer }) => {
    const { client, until } = stage;
    const namespace = await stage.namespace("lanterns");
    await using program = stage.run(peer.program, [namespace]);
    await until("it reflects", () => program.output.includes("reflecting 0 lanterns"));
    const definition = await client.get(CustomResourceDefinition, "lanterns.peers.example.com");
    assert.deepEqual(definition.status?.acceptedNames?.shortNames, ["lan"]);
    await assert.rejects(client.create(Lantern, lantern(namespace, "sun", 9999)), {
      code: 422,
      message: /spec\.lumen: Invalid value: 9999: spec\.lumen in body should be less than or equal to 1000/,
    });

    await client.create(Lantern, lantern(namespace, "hall", 40));
    const get = () => client.get(Lantern, `${namespace}/hall`);
    await until("the lantern is lit", async () => (await get()).status?.observedGeneration === 1);
    assert.deepEqual((await get()).metadata.finalizers, ["peers.example.com/extinguish"]);
    const settings = () => client.get(ConfigMap, `${namespace}/hall-settings`);
    const first = await settings();
    assert.equal(first.data?.["lumen"], "40");
    assert.deepEqual(
      first.metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`),
      ["lantern-controller Apply"],
    );
    await until("its event is there", async () => (await client.list(Event, { namespace })).items.length > 0);
    const [event] = (await client.list(Event, { namespace })).items;
    assert.deepEqual([event?.regarding?.name, event?.note], ["hall", "burns with 40 lumen"]);

    await client.delete(ConfigMap, `${namespace}/hall-settings`);
    await until("what was deleted is there again", () =>
      settings().then(
        ({ metadata }) => metadata.uid !== first.metadata.uid,
        () => false,
      ),
    );
    // The reflector's watch selects by label: the lantern enters it, and leaves it again.
    for (const [lit, count] of [
      ["true", "1"],
      ["false", "0"],
    ] as const) {
      await client.patch(Lantern, `${namespace}/hall`, { merge: { metadata: { labels: { lit } } } });
      await until(`the reflector knows ${count}`, async () => {
        // Two watches have no order: the controller is triggered until the reflector has observed the change as well.
        await client.patch(Lantern, `${namespace}/hall`, {
          merge: { metadata: { annotations: { trigger: String(client.clock.monotonic()) } } },
        });
        return (await settings()).data?.["lit"] === count;
      });
    }
    await client.patch(Lantern, `${namespace}/hall`, { merge: { spec: { lumen: 60 } } });
    await until("the change arrives", async () => (await settings()).data?.["lumen"] === "60");

    await client.delete(Lantern, `${namespace}/hall`);
    const isDeleted = <T extends KubeObject>(kind: KindRef<T>, name: string) =>
      client.get(kind, `${namespace}/${name}`).then(
        () => false,
        (error: unknown) => isNotFound(error),
      );
    await until("the lantern is gone", () => isDeleted(Lantern, "hall"));
    await client.get(ConfigMap, `${namespace}/hall-ashes`);
    await until("its settings are gone", () => isDeleted(ConfigMap, "hall-settings"));
    assert.equal(await program.kill("SIGTERM"), 0);
    assert.match(program.output, /stopped\n$/);
    assert.doesNotMatch(program.output, /reflector:/);
  },
};

const streams: Stories = {
  "it follows logs, executes commands and forwards ports": async ({ stage, peer }) => {
    echo(stage);
    const { client, until } = stage;
    const namespace = await stage.namespace("streams");
    const containers = [{ name: "main", image: "echo:1" }];
    await client.create(Pod, { metadata: { name: "echo", namespace }, spec: { containers } });
    const phase = async () => (await client.get(Pod, `${namespace}/echo`)).status?.phase;
    await until("the pod runs", async () => (await phase()) === "Running");
    const program = stage.run(peer.program, [namespace, "echo"]);
    await until("the program ends", () => !program.alive);
    assert.equal(await program.ended, 0, program.output);
    assert.deepEqual(JSON.parse(program.output), {
      logged: ["hello", "world"],
      executed: ["ping", "cat -n"],
      code: "3",
      forwarded: "HELLO",
    });
  },
};

onBothServers(kubeRs, objects, { why: "simulated nodes of KWOK run nothing to talk to", stories: streams });

function lantern(namespace: string, name: string, lumen: number): Lantern {
  return { apiVersion: "peers.example.com/v1", kind: "Lantern", metadata: { name, namespace }, spec: { lumen } };
}
