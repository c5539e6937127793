import assert from "node:assert/strict";
import { ConfigMap } from "@konverge/kinds";
import { adoptFields, adoptObject, controller, ownedKind, releaseObject } from "@konverge/runtime";
import { scenario } from "./scenario.ts";
import { configMap, dataOf, Widget } from "./stage.ts";

/** What another operator left behind: a child with more in it than is wanted now. */
const left = { metadata: { name: "a", namespace: "default", labels: { by: "old" } }, data: { text: "old", gone: "1" } };

scenario(
  "fields that another operator wrote by updates are adopted, and those that are no longer returned are removed",
  async (s) => {
    const widget = await s.widget("w", { text: "new" });
    await s.user.create(ConfigMap, left, { fieldManager: "old-operator" });
    await adoptObject(s.user, ConfigMap, "default/a", { kind: Widget, object: widget });
    await s.user.patch(ConfigMap, "default/a", { merge: { data: { theirs: "1" } } }, { fieldManager: "somebody" });
    await s.run(
      controller(Widget, {
        name: "widgets",
        owns: [ownedKind(ConfigMap, { from: ["old-operator"] })],
        reconcile: ({ spec }) => ({ children: [configMap("a", { text: spec.text })] }),
      }),
    );
    await s.settle();
    assert.deepEqual(await dataOf(s.user, "default/a"), { text: "new", theirs: "1" });
    const { metadata } = await s.user.get(ConfigMap, "default/a");
    assert.equal(metadata.labels, undefined);
    assert.deepEqual(metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`).sort(), [
      "somebody Update",
      "user Update",
      "widgets Apply",
    ]);
  },
);

scenario("without adoption, a controller leaves fields of another operator unchanged", async (s) => {
  const widget = await s.widget("w", { text: "new" });
  await s.user.create(ConfigMap, left, { fieldManager: "old-operator" });
  await adoptObject(s.user, ConfigMap, "default/a", { kind: Widget, object: widget });
  await s.run(
    controller(Widget, {
      name: "widgets",
      owns: [ConfigMap],
      reconcile: ({ spec }) => ({ children: [configMap("a", { text: spec.text })] }),
    }),
  );
  await s.settle();
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "new", gone: "1" });
});

scenario("fields, finalizers and labels are adopted in one write, once, status included", async (s) => {
  await s.user.create(
    Widget,
    Widget.new({
      metadata: {
        name: "w",
        namespace: "default",
        labels: { by: "old" },
        finalizers: ["old.example.com/x", "y.example.com/y"],
      },
      spec: {},
    }),
    { fieldManager: "old-operator" },
  );
  await s.user.patchStatus(
    Widget,
    "default/w",
    { merge: { status: { text: "old", count: 7 } } },
    { fieldManager: "old-operator" },
  );
  const options = {
    from: ["old-operator"],
    to: "widgets",
    removeFinalizers: ["old.example.com/x"],
    removeLabels: ["by", "never"],
  };
  const taken = await adoptFields(s.user, Widget, "default/w", options);
  assert.deepEqual(taken.metadata.finalizers, ["y.example.com/y"]);
  assert.equal(taken.metadata.labels, undefined);
  assert.ok(!taken.metadata.managedFields?.some(({ manager }) => manager === "old-operator"));
  assert.equal(taken.status?.count, 7);
  const again = await adoptFields(s.user, Widget, "default/w", options);
  assert.equal(again.metadata.resourceVersion, taken.metadata.resourceVersion);
  await s.run(controller(Widget, { name: "widgets", reconcile: () => ({ status: { text: "new" } }) }));
  await s.settle();
  const { status } = await s.user.get(Widget, "default/w");
  assert.equal(status?.text, "new");
  assert.equal(status?.count, undefined);
});

scenario("objects are adopted and released by uid only", async (s) => {
  const [one, two] = [await s.widget("one"), await s.widget("two")];
  await s.user.create(ConfigMap, left);
  const owner = { kind: Widget, object: one };
  const adopted = await adoptObject(s.user, ConfigMap, "default/a", owner);
  assert.equal(adopted.metadata.ownerReferences?.[0]?.uid, one.metadata.uid);
  const again = await adoptObject(s.user, ConfigMap, "default/a", owner);
  assert.equal(again.metadata.resourceVersion, adopted.metadata.resourceVersion);
  await assert.rejects(
    adoptObject(s.user, ConfigMap, "default/a", { kind: Widget, object: two }),
    /already has a controller/,
  );
  await releaseObject(s.user, ConfigMap, "default/a", two);
  assert.equal((await s.user.get(ConfigMap, "default/a")).metadata.ownerReferences?.length, 1);
  const free = await releaseObject(s.user, ConfigMap, "default/a", one);
  assert.equal(free.metadata.ownerReferences, undefined);
  await s.user.delete(Widget, "default/two");
  await s.widget("two");
  await assert.rejects(
    adoptObject(s.user, ConfigMap, "default/a", { kind: Widget, object: two }),
    /deleted or terminating/,
  );
});
