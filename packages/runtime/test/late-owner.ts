import assert from "node:assert/strict";
import { ConfigMap } from "@konverge/kinds";
import { controller } from "@konverge/runtime";
import { deafTo } from "./deaf-watch.ts";
import { scenario } from "./scenario.ts";
import { configMap, type Stage, Widget } from "./stage.ts";

const copies = () =>
  controller(Widget, {
    owns: [ConfigMap],
    reconcile: ({ metadata, spec }) => ({
      children: [configMap(metadata.name, { text: spec.text }), configMap(`${metadata.name}-second`, {})],
    }),
  });

/** Deletes a child, as the garbage collector does, which may have been faster. */
const collect = (s: Stage, name: string) => s.user.delete(ConfigMap, `default/${name}`).catch(() => {});

scenario(
  "a child that is removed with its owner is not created again while the owner's deletion is unknown",
  async (s) => {
    s.interfere = deafTo("widgets");
    await s.widget("w");
    await s.run(copies());
    await s.settle();
    assert.equal(await s.exists(ConfigMap, "default/w"), true);
    s.writes();
    await s.user.delete(Widget, "default/w");
    for (let i = 0; i < 5; i++) {
      await collect(s, "w");
      await collect(s, "w-second");
      await s.settle();
    }
    assert.deepEqual(s.writes(), []);
    assert.deepEqual(s.warnings, []);
  },
);

scenario("a child that is removed by itself is created again after one read of its owner", async (s) => {
  await s.widget("w");
  await s.run(copies());
  await s.settle();
  for (let i = 0; i < 2; i++) {
    s.requests.length = 0;
    await collect(s, "w");
    await collect(s, "w-second");
    await s.settle();
    assert.equal(await s.exists(ConfigMap, "default/w"), true);
    const reads = s.requests.filter((request) => request.startsWith("GET ") && request.includes("/widgets/w"));
    assert.ok(reads.length >= 1 && reads.length <= 2, `one read for each disappearance, not ${reads.length}`);
  }
  s.requests.length = 0;
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "2" } } });
  await s.settle();
  assert.deepEqual(
    s.requests.filter((request) => request.startsWith("GET ")),
    [],
  );
});

scenario("an owner of the same name that came after it gets its own children", async (s) => {
  await s.widget("w", { text: "1" });
  await s.run(copies());
  await s.settle();
  await s.user.delete(Widget, "default/w");
  const { metadata } = await s.widget("w", { text: "2" });
  await collect(s, "w");
  await collect(s, "w-second");
  await s.settle();
  const map = await s.user.get(ConfigMap, "default/w");
  assert.deepEqual([map.data, map.metadata.ownerReferences?.[0]?.uid], [{ text: "2" }, metadata.uid]);
});
