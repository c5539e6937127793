import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiServer } from "@konverge/apiserver";
import { Client } from "@konverge/client";
import { ConfigMap, CustomResourceDefinition, Namespace } from "@konverge/kinds";
import { controller } from "@konverge/runtime";
import { configMap, dataOf, stage, Widget } from "./stage.ts";

const widgets = controller(Widget, {
  owns: [ConfigMap],
  reconcile: ({ spec }) => ({ children: [configMap("a", { text: spec.text })] }),
});

test("it works in the configured namespaces, and watches no other", async () => {
  const s = await stage();
  await s.run(widgets, { namespaces: ["default"] });
  await s.widget("w");
  await s.user.create(Widget.new({ metadata: { name: "w", namespace: "other" }, spec: {} }));
  await s.settle();
  assert.equal(await s.exists(ConfigMap, "default/a"), true);
  assert.equal(await s.exists(ConfigMap, "other/a"), false);
});

test("it tells what its watches and controllers are doing", async () => {
  const s = await stage();
  const manager = await s.run(widgets);
  await s.widget("w", { text: "x".repeat(1000) });
  await s.settle();
  const watches = [...manager.watches()].map(({ kind, synced, objects }) => `${kind.kind} ${synced} ${objects}`);
  assert.deepEqual(watches, ["Widget true 1", "ConfigMap true 1"]);
  assert.ok([...manager.watches()].every(({ bytes, age }) => bytes > 1000 && age < 60_000));
  assert.deepEqual(
    [...manager.controllers()],
    [
      {
        cluster: "home",
        name: "widgets.example.com",
        depth: 0,
        depths: { low: 0, normal: 0, high: 0 },
        working: 0,
        retrying: 0,
        concurrency: 10,
        daemons: {},
      },
    ],
  );
});

test("it fails with a list of what it could not watch, and why", async () => {
  const s = await stage();
  const Unknown = { group: "nowhere.example", version: "v1", kind: "Unknown", plural: "unknowns", namespaced: true };
  const manager = s.manager(controller(Unknown, { reconcile: () => ({}) }), { syncTimeout: 10_000 });
  await assert.rejects(s.during(manager.start()), /these kinds have not been listed: Unknown.nowhere.example \(.+\)/);
  await assert.rejects(manager.done);
});

test("nothing is reconciled before everything that may be read has been listed", async () => {
  const s = await stage();
  await s.widget("w", { text: "x" });
  const gate = Promise.withResolvers<void>();
  s.interfere = async (request, next) => {
    if (request.path.includes("/configmaps") && request.path.includes("watch=true")) await gate.promise;
    return next(request);
  };
  const manager = s.manager(widgets);
  const started = manager.start();
  await s.clock.advance(20_000);
  assert.deepEqual(s.writes(), []);
  assert.equal(manager.working, false);
  gate.resolve();
  await s.during(started);
  await s.settle();
  assert.equal(await s.exists(ConfigMap, "default/a"), true);
});

test("two controllers of the same name are refused", async () => {
  const s = await stage();
  assert.throws(() => s.manager([widgets, widgets]), /two controllers are called widgets.example.com/);
});

test("when it stops, work in progress is finished and no new work starts", async () => {
  const s = await stage();
  const gate = Promise.withResolvers<void>();
  const finished: string[] = [];
  const manager = await s.run(
    controller(Widget, {
      concurrency: 1,
      async reconcile({ metadata }) {
        await gate.promise;
        finished.push(metadata.name);
        return {};
      },
    }),
  );
  await s.widget("v");
  await s.widget("w");
  await s.clock.advance(1);
  const stopped = manager.stop();
  await s.clock.advance(1000);
  gate.resolve();
  await s.during(stopped);
  await s.clock.advance(60_000);
  assert.deepEqual(finished, ["v"]);
});

test("what takes longer than the grace is interrupted", async () => {
  const s = await stage();
  let reason: unknown;
  const manager = await s.run(
    controller(Widget, {
      reconcile: (_widget, { signal }) =>
        new Promise<undefined>((_, reject) => {
          signal.addEventListener("abort", () => {
            reason = signal.reason;
            reject(signal.reason);
          });
        }),
    }),
    { gracefulShutdownTimeout: 5000 },
  );
  await s.widget("w");
  await s.clock.advance(1);
  const before = s.clock.monotonic();
  await s.during(manager.stop());
  assert.match(String(reason), /the manager has stopped/);
  assert.ok(s.clock.monotonic() - before <= 5001);
  assert.deepEqual(s.warnings, []);
});

test("one manager works in several clusters, and a controller can be of only some", async () => {
  const s = await stage();
  const remote = new ApiServer({ clock: s.clock });
  const client = new Client(remote.transport, { clock: s.clock });
  await client.create(CustomResourceDefinition, Widget.crd() as never);
  await client.create(Namespace, { metadata: { name: "default" } }).catch(() => {});
  const seen: string[] = [];
  await s.run(
    [
      widgets,
      controller(Widget, {
        name: "reporter",
        clusters: ["remote"],
        async reconcile({ metadata }, { cluster, clusters }) {
          seen.push(`${cluster} ${metadata.name}`);
          // Events of one cluster can be written to another.
          await clusters
            .get("home")!
            .apply(ConfigMap, { metadata: { name: `from-${metadata.name}`, namespace: "default" } });
          return {};
        },
      }),
    ],
    { clusters: { remote: client } },
  );
  await s.widget("here", { text: "h" });
  await client.create(Widget.new({ metadata: { name: "there", namespace: "default" }, spec: { text: "t" } }));
  await s.settle();
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "h" });
  assert.deepEqual(await dataOf(client, "default/a"), { text: "t" });
  assert.deepEqual([...new Set(seen)], ["remote there"]);
  assert.equal(await s.exists(ConfigMap, "default/from-there"), true);
});
