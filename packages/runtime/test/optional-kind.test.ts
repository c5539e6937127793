import assert from "node:assert/strict";
import { test } from "node:test";
import { CustomResourceDefinition } from "@konverge/kinds";
import { controller, optionalKind, RECONCILE_NOW_ANNOTATION } from "@konverge/runtime";
import { defineKind, z } from "@konverge/schema";
import { stage, Widget } from "./stage.ts";

/** A kind of other software. */
const Gadget = defineKind({
  group: "other.example.com",
  kind: "Gadget",
  versions: {
    v1: {
      spec: z.object({ text: z.string().max(5).optional(), more: z.string().optional() }),
      status: z.object({}),
    },
  },
});
const gadgets = optionalKind(Gadget);

/** A gadget for each name in `maps`, with the text in one of two fields. */
const widgets = (refusals: (string | undefined)[] = []) =>
  controller(Widget, {
    watches: [gadgets.definition],
    permissions: [gadgets.permission],
    async reconcile(widget, context) {
      const { maps, text } = widget.spec;
      const spec = text.startsWith("more") ? { more: text } : { text };
      const wanted = maps.map((name) => Gadget.new({ metadata: { name, namespace: "default" }, spec }));
      const { refusal } = await gadgets.keep(widget, wanted as never, { widget: widget.metadata.name }, context);
      refusals.push(refusal);
      return {};
    },
  });

async function withGadgets(refusals?: (string | undefined)[]) {
  const s = await stage();
  await s.user.create(CustomResourceDefinition, Gadget.crd() as never);
  await s.run(widgets(refusals));
  await s.settle();
  return s;
}
const isAboutGadgets = (request: string) => request.includes("gadgets");

test("nothing is requested while an optional kind is not installed", async () => {
  const s = await stage();
  await s.run(widgets());
  await s.widget("w", { maps: ["a"] });
  await s.settle();
  assert.deepEqual(s.requests.filter(isAboutGadgets), []);
  await s.user.create(CustomResourceDefinition, Gadget.crd() as never);
  await s.settle();
  const annotations = { [RECONCILE_NOW_ANNOTATION]: "1" };
  await s.user.patch(Widget, "default/w", { merge: { metadata: { annotations } } } as never);
  await s.settle();
  const { metadata } = await s.user.get(Gadget, "default/a");
  assert.deepEqual([metadata.ownerReferences?.[0]?.name, metadata.labels?.["widget"]], ["w", "w"]);
});

test("objects of an optional kind follow, lose fields that are no longer set, and go when they are not wanted", async () => {
  const s = await withGadgets();
  await s.widget("w", { maps: ["a", "b"], text: "1" });
  await s.settle();
  assert.deepEqual((await s.user.get(Gadget, "default/b")).spec, { text: "1" });
  s.writes();
  const annotations = { [RECONCILE_NOW_ANNOTATION]: "1" };
  await s.user.patch(Widget, "default/w", { merge: { metadata: { annotations } } } as never);
  await s.settle();
  assert.deepEqual(s.writes().filter(isAboutGadgets), [], "nothing is written that is as it should be");
  await s.user.patch(Widget, "default/w", { merge: { spec: { maps: ["a"], text: "more" } } });
  await s.settle();
  assert.deepEqual((await s.user.get(Gadget, "default/a")).spec, { more: "more" });
  assert.equal(await s.exists(Gadget, "default/b"), false);
});

test("an object that the server refuses is returned as its message", async () => {
  const refusals: (string | undefined)[] = [];
  const s = await withGadgets(refusals);
  await s.widget("w", { maps: ["a"], text: "too long" });
  await s.settle();
  assert.match(refusals.at(-1) ?? "", /spec\.text.*Too long/);
});
