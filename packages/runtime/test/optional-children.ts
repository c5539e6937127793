import assert from "node:assert/strict";
import { ConfigMap, CustomResourceDefinition } from "@konverge/kinds";
import { controller, ownedKind } from "@konverge/runtime";
import { defineKind, z } from "@konverge/schema";
import { scenario } from "./scenario.ts";
import { configMap, dataOf, type Stage, Widget } from "./stage.ts";

/** A kind of other software. */
const Gadget = defineKind({
  group: "other.example.com",
  kind: "Gadget",
  versions: { v1: { spec: z.object({ text: z.string().max(8).optional() }), status: z.object({}) } },
});

const CRD = "gadgets.other.example.com";

/** A ConfigMap and a Gadget for each name in `maps`; the status counts the Gadgets, or is -1 where the kind is not served. */
const widgets = () =>
  controller(Widget, {
    owns: [ConfigMap, ownedKind(Gadget, { optional: true })],
    reconcile: ({ spec: { maps, text } }, { observed, isServed }) => ({
      children: maps.flatMap((name) => [
        configMap(name, { text }),
        Gadget.draft({ metadata: { name }, spec: text ? { text } : {} }),
      ]),
      status: { count: isServed(Gadget) ? observed.all(Gadget).length : -1 },
    }),
  });

const install = (s: Stage) => s.user.create(CustomResourceDefinition, Gadget.crd() as never);

/** Deletes the definition, and with it all Gadgets. */
async function uninstall(s: Stage): Promise<void> {
  await s.user.delete(CustomResourceDefinition, CRD);
  await until(s, async () => !(await s.exists(CustomResourceDefinition, CRD)));
}

/** Real servers take a while to serve a new kind, and to delete one. */
async function until(s: Stage, isDone: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 100; i++) {
    await s.settle();
    if (await isDone()) return;
  }
  throw new Error("it does not happen");
}

const textOf = (s: Stage, name: string) =>
  s.user.get(Gadget, `default/${name}`).then(
    ({ spec }) => spec.text,
    () => undefined,
  );
const countOf = async (s: Stage) => (await s.user.get(Widget, "default/w")).status?.count;
const aboutGadgets = (requests: readonly string[]) => requests.filter((request) => request.includes("gadgets"));
const isAsked = (request: string) => request.includes("/gadgets");

scenario("a kind that is installed later is picked up without a restart", async (s) => {
  await s.run(widgets());
  await s.widget("w", { maps: ["a"], text: "1" });
  await s.settle();
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "1" }, "the other children do not wait for it");
  assert.equal(await countOf(s), -1);
  assert.deepEqual(s.requests.filter(isAsked), [], "nothing is requested while the kind is not served");
  await install(s);
  await until(s, async () => (await countOf(s)) === 1);
  assert.equal(await textOf(s, "a"), "1");
  const { metadata } = await s.user.get(Gadget, "default/a");
  assert.equal(metadata.ownerReferences?.[0]?.name, "w");
  await uninstall(s);
});

scenario("a changed or deleted child of an optional kind is repaired at once", async (s) => {
  await install(s);
  await s.run(widgets());
  await s.widget("w", { maps: ["a", "b"], text: "1" });
  await until(s, async () => (await countOf(s)) === 2);
  s.writes();
  await s.user.patch(Gadget, "default/a", { merge: { spec: { text: "spoilt" } } } as never);
  await s.user.delete(Gadget, "default/b");
  await s.settle();
  assert.deepEqual([await textOf(s, "a"), await textOf(s, "b")], ["1", "1"]);
  assert.equal(aboutGadgets(s.writes()).length, 2);
  await s.user.patch(Widget, "default/w", { merge: { spec: { maps: ["a"], text: "" } } });
  await s.settle();
  assert.deepEqual((await s.user.get(Gadget, "default/a")).spec, {}, "a field that is no longer set is removed");
  assert.equal(await s.exists(Gadget, "default/b"), false, "a child that is no longer returned is deleted");
  await uninstall(s);
});

scenario("a kind that is removed does not stop the controller, and comes back with its children", async (s) => {
  await install(s);
  await s.run(widgets());
  await s.widget("w", { maps: ["a"], text: "1" });
  await until(s, async () => (await countOf(s)) === 1);
  await uninstall(s);
  await until(s, async () => (await countOf(s)) === -1);
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "2" } } });
  await s.settle();
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "2" });
  await install(s);
  await until(s, async () => (await countOf(s)) === 1);
  assert.equal(await textOf(s, "a"), "2");
  await uninstall(s);
});

scenario("a restart over children of an optional kind writes nothing", async (s) => {
  await install(s);
  const first = await s.run(widgets());
  await s.widget("w", { maps: ["a"], text: "1" });
  await until(s, async () => (await countOf(s)) === 1);
  await s.during(first.stop());
  s.writes();
  await s.run(widgets());
  await s.settle();
  assert.deepEqual(s.writes(), []);
  await uninstall(s);
});
