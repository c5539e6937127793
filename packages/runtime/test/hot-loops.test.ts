import assert from "node:assert/strict";
import { test } from "node:test";
import { keyOf } from "@konverge/core";
import { ConfigMap, Event } from "@konverge/kinds";
import { controller, Metrics } from "@konverge/runtime";
import { configMap, stage, Widget } from "./stage.ts";

const EVENTS = { namespace: "default" };
const textsOf = (warnings: readonly string[]) => warnings.filter((line) => line.includes("no reason from outside"));

test("a child that is written by each reconcile is reported once, with the field, and slowed down", async () => {
  const s = await stage();
  let count = 0;
  const metrics = new Metrics({ clock: s.clock, process: false });
  const counting = controller(Widget, {
    owns: [ConfigMap],
    reconcile: async ({ metadata }) => ({ children: [configMap(metadata.name, { at: String(++count) })] }),
  });
  await s.run(counting, { observers: [metrics] });
  await s.widget("w");
  await s.clock.advance(30_000);
  assert.deepEqual(textsOf(s.warnings), [
    "Widget.example.com default/w was reconciled 50 times in 10 s for no reason from outside: each reconcile writes " +
      'ConfigMap default/w and thereby causes the next, with /data/at first "49", then "50". Compute it from the object ' +
      "and from what is observed alone, without the time, a counter or a random value. It is slowed down to one reconcile a second",
  ]);
  assert.ok(count >= 70 && count <= 90, `${count} reconciles in 30 s`);
  const reasons = (await s.user.list(Event, EVENTS)).items.map(({ reason }) => reason);
  assert.ok(reasons.includes("HotLoop"), reasons.join());
  assert.match(await metrics.text(), /konverge_hot_loops_total\{controller="[^"]+"\} 1/);
});

test("a child that changes with each reconcile is reported, too, where only its own controller's report causes the next", async () => {
  const s = await stage();
  let count = 0;
  const counting = controller(Widget, {
    owns: [ConfigMap],
    reconcile: async ({ metadata }) => ({ children: [configMap(metadata.name, { at: String(++count) })] }),
  });
  const ended = new AbortController();
  const reporting = (async () => {
    for await (const event of s.user.watch(ConfigMap, { signal: ended.signal })) {
      if (event.type !== "ADDED" && event.type !== "MODIFIED") continue;
      const { object } = event;
      const seen = object.data?.["at"] ?? "";
      if (object.metadata.annotations?.["seen"] === seen) continue;
      await s.user.patch(ConfigMap, keyOf(object), { merge: { metadata: { annotations: { seen } } } });
    }
  })();
  await s.run(counting);
  await s.widget("w");
  await s.clock.advance(30_000);
  ended.abort();
  await reporting.catch(() => {});
  const [message = "", ...more] = textsOf(s.warnings);
  assert.match(message, /default\/w was .* each reconcile writes ConfigMap default\/w .* with \/data\/at first/);
  assert.deepEqual(more, []);
});

test("a controller that only logs errors, as those of Kubernetes, is not slowed down", async () => {
  const s = await stage();
  let count = 0;
  const reconcile = () => {
    count++;
    return { requeueAfter: 10 };
  };
  await s.run(controller(Widget, { logErrorsOnly: true, reconcile }));
  await s.widget("w");
  await s.clock.advance(5_000);
  assert.ok(count > 400, `${count} reconciles in 5 s`);
  assert.deepEqual(textsOf(s.warnings), []);
});

test("a reconcile that asks for the next at once is reported", async () => {
  const s = await stage();
  await s.run(controller(Widget, { reconcile: () => ({ requeueAfter: 1 }) }));
  await s.widget("w");
  await s.clock.advance(5_000);
  const [message = "", ...more] = textsOf(s.warnings);
  assert.match(message, /wrote nothing, and asked for the next reconcile at once\. Return a longer requeueAfter/);
  assert.deepEqual(more, []);
});

test("two operators that set a field to different values are reported with the other's value and name", async () => {
  const s = await stage();
  const says = (name: string) => controller(Widget, { name, owns: [], reconcile: () => ({ status: { text: name } }) });
  await s.run(says("left"));
  await s.run(says("right"));
  await s.widget("w");
  await s.clock.advance(30_000);
  const messages = textsOf(s.warnings).sort();
  assert.ok(messages.length >= 1, "none is reported");
  assert.match(
    messages[0]!,
    /Widget\.example\.com\/status default\/w is written again and again: \/status\/text is set to "(left|right)" here, and to "(left|right)" elsewhere, by the field manager (left|right): probably two operators reconcile this kind/,
  );
});

test("a loop that ends is no longer slowed down, and what users do often is no loop", async () => {
  const s = await stage();
  let isLoop = true;
  let count = 0;
  const counting = controller(Widget, {
    owns: [ConfigMap],
    reconcile: async ({ metadata, spec }) => ({
      children: [configMap(metadata.name, { at: isLoop ? String(++count) : spec.text })],
    }),
  });
  await s.run(counting);
  await s.widget("w");
  await s.clock.advance(12_000);
  assert.equal(textsOf(s.warnings).length, 1);
  isLoop = false;
  await s.clock.advance(30_000);
  for (let i = 0; i < 100; i++) {
    await s.user.patch(Widget, "default/w", { merge: { spec: { text: `text ${i}` } } });
    await s.settle();
  }
  assert.equal((await s.user.get(ConfigMap, "default/w")).data?.["at"], "text 99");
  assert.equal(textsOf(s.warnings).length, 1);
});
