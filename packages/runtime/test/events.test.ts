import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, VirtualClock } from "@konverge/core";
import { ConfigMap, Event, Lease } from "@konverge/kinds";
import { controller } from "@konverge/runtime";
import { stage, Widget } from "./stage.ts";

test("an event carries the fields of both APIs, and is counted instead of repeated", async () => {
  const s = await stage();
  await s.run(
    controller(Widget, {
      name: "widgets",
      reconcile(_widget, { events }) {
        events.normal("Looked", "it was looked at", { action: "Look" });
        return {};
      },
    }),
    { identity: "replica-1" },
  );
  const widget = await s.widget("w");
  await s.settle();
  await s.clock.advance(60_000);
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "x" } } });
  await s.settle();
  const { items } = await s.user.list(Event, { namespace: "default" });
  assert.equal(items.length, 1);
  const event = items[0]!;
  assert.equal(event.involvedObject.uid, widget.metadata.uid);
  assert.equal(event.involvedObject.kind, "Widget");
  assert.equal(event.type, "Normal");
  assert.equal(event.reason, "Looked");
  assert.equal(event.action, "Look");
  assert.equal(event.reportingComponent, "widgets");
  assert.equal(event.reportingInstance, "replica-1");
  assert.equal(event.source?.component, "widgets");
  assert.equal(event.count, 2);
  assert.equal(event.series?.count, 2);
  assert.ok(event.firstTimestamp! < event.lastTimestamp!);
  assert.match(event.eventTime!, /\.\d{6}Z$/);
});

test("an event that cannot be written harms nothing", async () => {
  const s = await stage();
  s.interfere = async (request, next) => {
    if (!request.path.includes("/events")) return next(request);
    return { status: 403, headers: {}, body: "no" };
  };
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      reconcile(_widget, { events }) {
        events.warning("Bad", "something");
        return { children: [], status: { count: 1 } };
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.equal((await s.user.get(Widget, "default/w")).status?.count, 1);
  assert.deepEqual(s.warnings, []);
});

test("what was recorded is written before the manager has stopped", async () => {
  const s = await stage();
  const manager = await s.run(
    controller(Widget, {
      reconcile(_widget, { events }) {
        for (let i = 0; i < 5; i++) events.normal(`Reason${i}`, "x");
        return {};
      },
    }),
  );
  await s.widget("w");
  await s.clock.advance(0);
  await s.during(manager.stop());
  assert.equal((await s.user.list(Event, { namespace: "default" })).items.length, 5);
});

test("names of events and the identity in a lease, which everyone can read, are not drawn where secrets are", async () => {
  const secrets = {
    text: (): string => {
      throw new Error("a public name was drawn from the source of secrets");
    },
  };
  const s = await stage();
  const { random } = new VirtualClock();
  const clock: Clock = {
    now: () => s.clock.now(),
    monotonic: () => s.clock.monotonic(),
    after: (ms, task, options) => s.clock.after(ms, task, options),
    post: (task, label) => s.clock.post(task, label),
    random,
    secrets,
  };
  const widgets = controller(Widget, {
    reconcile(_widget, { events }) {
      events.normal("Reconciled", "it was reconciled");
      return {};
    },
  });
  const manager = s.manager(widgets, { clock, leaderElection: { name: "leader", namespace: "default" } });
  await s.during(manager.start());
  await s.widget("w");
  await s.clock.advance(10_000);
  const drawn = new VirtualClock().random;
  assert.equal(manager.identity, `konverge-${drawn.uuid().slice(0, 8)}`);
  assert.equal((await s.user.get(Lease, "default/leader")).spec?.holderIdentity, manager.identity);
  const { items } = await s.user.list(Event, { namespace: "default" });
  assert.deepEqual(
    items.map(({ reason }) => reason),
    ["Reconciled"],
  );
  assert.deepEqual(s.warnings, []);
});
