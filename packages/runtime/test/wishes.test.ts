import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap } from "@konverge/kinds";
import { controller, generationChanged, PAUSED_ANNOTATION, RECONCILE_NOW_ANNOTATION } from "@konverge/runtime";
import { configMap, stage, Widget } from "./stage.ts";

const annotate = (annotations: Record<string, string | null>) => ({ merge: { metadata: { annotations } } }) as never;

const widgets = (looks: string[] = []) =>
  controller(Widget, {
    owns: [ConfigMap],
    when: generationChanged,
    reconcile(widget) {
      looks.push(widget.metadata.name);
      return { children: [configMap("a", { text: widget.spec.text })] };
    },
    cleanup: () => undefined,
  });

test("a paused object, its children and its deletion are not reconciled until it is no longer paused", async () => {
  const s = await stage();
  await s.run(widgets());
  await s.widget("w", { text: "1" });
  await s.settle();
  await s.user.patch(Widget, "default/w", annotate({ [PAUSED_ANNOTATION]: "true" }));
  await s.settle();
  s.writes();
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "2" } } });
  await s.user.delete(ConfigMap, "default/a");
  await s.settle();
  assert.deepEqual(s.writes(), []);
  await s.user.patch(Widget, "default/w", annotate({ [PAUSED_ANNOTATION]: null }));
  await s.settle();
  assert.deepEqual((await s.user.get(ConfigMap, "default/a")).data, { text: "2" });
  await s.user.patch(Widget, "default/w", annotate({ [PAUSED_ANNOTATION]: "true" }));
  await s.user.delete(Widget, "default/w");
  await s.settle();
  assert.ok(await s.exists(Widget, "default/w"));
  await s.user.patch(Widget, "default/w", annotate({ [PAUSED_ANNOTATION]: null }));
  await s.settle();
  assert.equal(await s.exists(Widget, "default/w"), false);
});

test("an object is reconciled whenever a user requests it, whatever the predicate filters out", async () => {
  const s = await stage();
  const looks: string[] = [];
  await s.run(widgets(looks));
  await s.widget("w");
  await s.settle();
  const before = looks.length;
  await s.user.patch(Widget, "default/w", annotate({ other: "1" }));
  await s.settle();
  assert.equal(looks.length, before);
  await s.user.patch(Widget, "default/w", annotate({ [RECONCILE_NOW_ANNOTATION]: "1" }));
  await s.settle();
  assert.equal(looks.length, before + 1);
  await s.user.patch(Widget, "default/w", annotate({ [RECONCILE_NOW_ANNOTATION]: "2" }));
  await s.settle();
  assert.equal(looks.length, before + 2);
});
