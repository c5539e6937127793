import assert from "node:assert/strict";
import { ConfigMap } from "@konverge/kinds";
import { controller, plannedChild } from "@konverge/runtime";
import { scenario, virtual } from "./scenario.ts";
import { configMap, dataOf, type Stage, Widget } from "./stage.ts";

/** A ConfigMap for each name, each after the one before it. */
const chains = (teardown?: "ordered") =>
  controller(Widget, {
    name: "chains",
    owns: [ConfigMap],
    ...(teardown && { teardown }),
    reconcile({ spec }) {
      const drafts = spec.maps.map((name) => configMap(name, {}));
      return {
        children: drafts.map((draft, i) => plannedChild(draft, { after: drafts.slice(Math.max(0, i - 1), i) })),
      };
    },
  });

const alive = async (s: Stage, ...names: string[]) => {
  const found: string[] = [];
  for (const name of names) {
    const map = await s.user.get(ConfigMap, `default/${name}`).catch(() => undefined);
    if (map && !map.metadata.deletionTimestamp) found.push(name);
  }
  return found.join();
};

/** There is no garbage collector here that would end a deletion in the foreground. */
const collect = (s: Stage, name: string) =>
  s.user.patch(ConfigMap, `default/${name}`, { merge: { metadata: { finalizers: [] } } });

virtual("children are pruned in the reverse of their order, also by a process that did not make them", async (s) => {
  const first = await s.run(chains());
  await s.widget("w", { maps: ["a", "b", "c"] });
  await s.settle();
  assert.equal(await alive(s, "a", "b", "c"), "a,b,c");
  await s.during(first.stop());
  await s.run(chains());
  await s.user.patch(Widget, "default/w", { merge: { spec: { maps: [] } } });
  await s.settle();
  assert.equal(await alive(s, "a", "b", "c"), "a,b");
  await collect(s, "c");
  await s.settle();
  assert.equal(await alive(s, "a", "b", "c"), "a");
  await collect(s, "b");
  await s.settle();
  assert.equal(await s.exists(ConfigMap, "default/a"), false);
});

virtual("with an ordered teardown the object waits for its children, and says for which", async (s) => {
  await s.run(chains("ordered"));
  await s.widget("w", { maps: ["a", "b"] });
  await s.settle();
  await s.user.delete(Widget, "default/w");
  await s.clock.advance(1_000);
  assert.equal(await alive(s, "a", "b"), "a");
  const widget = await s.user.get(Widget, "default/w");
  assert.match(
    widget.status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "",
    /waits for ConfigMap default\/a, ConfigMap default\/b/,
  );
  await collect(s, "b");
  await s.clock.advance(60_000);
  assert.equal(await s.exists(ConfigMap, "default/a"), false);
  assert.equal(await s.exists(Widget, "default/w"), false);
});

scenario("children without an order carry no trace of one", async (s) => {
  await s.run(chains());
  await s.widget("w", { maps: ["a"] });
  await s.settle();
  assert.deepEqual(await dataOf(s.user, "default/a"), undefined);
  assert.equal((await s.user.get(ConfigMap, "default/a")).metadata.annotations, undefined);
});
