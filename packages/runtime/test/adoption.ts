import assert from "node:assert/strict";
import { ConfigMap, Namespace } from "@konverge/kinds";
import { controller, ownedKind, plannedChild } from "@konverge/runtime";
import { scenario, virtual } from "./scenario.ts";
import { conditionOf, configMap, dataOf, type Interference, Widget } from "./stage.ts";

const oneMap = (owns: Parameters<typeof controller>[1]["owns"] = [ConfigMap]) =>
  controller(Widget, {
    name: "widgets",
    owns,
    reconcile: ({ spec }) => ({ children: [configMap("a", { text: spec.text })] }),
  });

virtual("an object of another owner is not changed, and the conditions report it", async (s) => {
  await s.user.create(ConfigMap, { metadata: { name: "a", namespace: "default" }, data: { theirs: "1" } });
  await s.run(oneMap());
  await s.widget("w");
  await s.clock.advance(1000);
  assert.deepEqual(await dataOf(s.user, "default/a"), { theirs: "1" });
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False ChildExists");
  assert.match(s.warnings[0]!, /ConfigMap default\/a exists and was not created by widgets/);
  await s.user.delete(ConfigMap, "default/a");
  await s.clock.advance(60_000);
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "" });
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "True AsExpected");
});

virtual("it is not touched either when it appears just before the child would be created", async (s) => {
  await s.run(oneMap());
  s.interfere = async (request, next) => {
    if (request.method === "PATCH" && request.path.includes("/configmaps/a")) {
      s.interfere = undefined;
      await s.user.create(ConfigMap, { metadata: { name: "a", namespace: "default" }, data: { theirs: "1" } });
    }
    return next(request);
  };
  await s.widget("w");
  await s.clock.advance(1000);
  assert.deepEqual(await dataOf(s.user, "default/a"), { theirs: "1" });
  assert.equal((await s.user.get(ConfigMap, "default/a")).metadata.ownerReferences, undefined);
});

scenario("it becomes a child where that is allowed", async (s) => {
  await s.user.create(ConfigMap, { metadata: { name: "a", namespace: "default" }, data: { theirs: "1" } });
  await s.run(oneMap([ownedKind(ConfigMap, { adopt: "any" })]));
  await s.widget("w", { text: "ours" });
  await s.settle();
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "ours", theirs: "1" });
  assert.equal((await s.user.get(ConfigMap, "default/a")).metadata.ownerReferences?.[0]?.name, "w");
});

scenario("a child that was orphaned becomes the child of the next object of that name", async (s) => {
  await s.run(oneMap());
  await s.widget("w", { text: "1" });
  await s.settle();
  await s.user.patch(ConfigMap, "default/a", { merge: { metadata: { ownerReferences: [] } } });
  await s.user.delete(Widget, "default/w");
  await s.settle();
  // The operator put the reference back before it knew of the deletion, or it did not: either way it has no owner now.
  await s.user.patch(ConfigMap, "default/a", { merge: { metadata: { ownerReferences: [] } } });
  const again = await s.widget("w", { text: "2" });
  await s.settle();
  const { metadata, data } = await s.user.get(ConfigMap, "default/a");
  assert.equal(metadata.ownerReferences?.[0]?.uid, again.metadata.uid);
  assert.deepEqual(data, { text: "2" });
});

virtual(
  "a child of an earlier object of the same name is neither adopted nor changed, and is replaced when it is gone",
  async (s) => {
    await s.run(oneMap());
    await s.widget("w", { text: "1" });
    await s.settle();
    // There is no garbage collector here: the child stays behind.
    await s.user.delete(Widget, "default/w");
    await s.settle();
    const again = await s.widget("w", { text: "2" });
    await s.clock.advance(1000);
    assert.deepEqual(await dataOf(s.user, "default/a"), { text: "1" });
    assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False ChildOfPredecessor");
    await s.user.delete(ConfigMap, "default/a");
    await s.clock.advance(1000);
    const { metadata, data } = await s.user.get(ConfigMap, "default/a");
    assert.equal(metadata.ownerReferences?.[0]?.uid, again.metadata.uid);
    assert.deepEqual(data, { text: "2" });
  },
);

scenario("a child that is being deleted is waited for, not written to", async (s) => {
  await s.run(oneMap());
  await s.widget("w", { text: "1" });
  await s.settle();
  await s.user.patch(ConfigMap, "default/a", { merge: { metadata: { finalizers: ["example.com/slow"] } } });
  await s.user.delete(ConfigMap, "default/a");
  await s.settle();
  s.writes();
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "2" } } });
  await s.settle();
  assert.deepEqual(s.writes(), ["PATCH /apis/example.com/v1/namespaces/default/widgets/w/status"]);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False ChildrenNotReady");
  await s.user.patch(ConfigMap, "default/a", { merge: { metadata: { finalizers: [] } } });
  await s.settle();
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "2" });
});

scenario("children that wait for others are applied when these are ready, and not before", async (s) => {
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      reconcile() {
        const first = configMap("first", {});
        const second = configMap("second", {});
        return {
          children: [
            plannedChild(configMap("third", {}), { after: [second] }),
            plannedChild(second, { after: [first] }),
            plannedChild(first, { readyWhen: ({ metadata }) => metadata.annotations?.["ready"] === "yes" }),
          ],
        };
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.equal(await s.exists(ConfigMap, "default/first"), true);
  assert.equal(await s.exists(ConfigMap, "default/second"), false);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Progressing"), "True ChildrenNotReady");
  await s.user.patch(ConfigMap, "default/first", { merge: { metadata: { annotations: { ready: "yes" } } } });
  await s.settle();
  assert.equal(await s.exists(ConfigMap, "default/third"), true);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "True AsExpected");
});

scenario("children that wait for each other are an error", async (s) => {
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      reconcile() {
        const [a, b] = [configMap("a", {}), configMap("b", {})];
        return { children: [plannedChild(a, { after: [b] }), plannedChild(b, { after: [a] })] };
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.match(s.warnings[0]!, /wait for each other: ConfigMap default\/a, ConfigMap default\/b/);
});

/** A server that does not let the ConfigMap's data be changed. */
const refuseChanges: Interference = async (request, next) => {
  if (request.method !== "PATCH" || !request.path.includes("/configmaps/a")) return next(request);
  const { metadata, data } = JSON.parse(String(request.body)) as ConfigMap;
  if (!metadata.uid || data?.["text"] !== "2") return next(request);
  const message = 'ConfigMap "a" is invalid: data: Forbidden: field is immutable when `immutable` is set';
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Invalid", code: 422, message };
  return { status: 422, headers: {}, body: JSON.stringify(status) };
};

virtual("a field that cannot be changed is reported", async (s) => {
  s.interfere = refuseChanges;
  await s.run(oneMap());
  await s.widget("w", { text: "1" });
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "2" } } });
  await s.settle();
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "1" });
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False ImmutableField");
});

virtual("or leads to a new child, where that is allowed", async (s) => {
  s.interfere = refuseChanges;
  await s.run(oneMap([ownedKind(ConfigMap, { onImmutable: "orphan" })]));
  await s.widget("w", { text: "1" });
  await s.settle();
  const before = (await s.user.get(ConfigMap, "default/a")).metadata.uid;
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "2" } } });
  await s.clock.advance(1000);
  assert.match(s.requests.find((request) => request.startsWith("DELETE"))!, /configmaps\/a/);
  // There is no garbage collector here to end the orphaning.
  await s.user.patch(ConfigMap, "default/a", { merge: { metadata: { finalizers: [] } } });
  await s.settle();
  const { metadata, data } = await s.user.get(ConfigMap, "default/a");
  assert.deepEqual(data, { text: "2" });
  assert.notEqual(metadata.uid, before);
});

scenario(
  "children that only a label can hold are kept up, found after a restart, and removed before their owner goes",
  async (s) => {
    const spaces = () =>
      controller(Widget, {
        name: "widgets",
        owns: [ownedKind(Namespace, { by: "label" })],
        reconcile: ({ spec }) => ({
          children: spec.maps.map((name) => Namespace.draft({ metadata: { name } })),
        }),
      });
    const first = await s.run(spaces());
    await s.widget("w", { maps: ["x", "y"] });
    await s.settle();
    const { metadata } = await s.user.get(Namespace, "x");
    assert.equal(metadata.labels?.["konverge.dev/owner-uid"], (await s.user.get(Widget, "default/w")).metadata.uid);
    await s.during(first.stop());
    await s.run(spaces());
    await s.user.patch(Widget, "default/w", { merge: { spec: { maps: ["y"] } } });
    await s.settle();
    const live = async (name: string) =>
      (await s.exists(Namespace, name)) && !(await s.user.get(Namespace, name)).metadata.deletionTimestamp;
    assert.equal(await live("x"), false);
    assert.equal(await live("y"), true);
    await s.user.delete(Widget, "default/w");
    await s.settle();
    assert.equal(await live("y"), false);
  },
);
