import assert from "node:assert/strict";
import { ConfigMap, Deployment, Secret } from "@konverge/kinds";
import { type Child, controller, plannedChild } from "@konverge/runtime";
import { scenario, virtual } from "./scenario.ts";
import { conditionOf, configMap, dataOf, Widget } from "./stage.ts";

/** A ConfigMap for each name in the spec, with the text in it. */
const widgets = (more: object = {}) =>
  controller(Widget, {
    name: "widgets",
    owns: [ConfigMap, Secret],
    reconcile: ({ spec }) => ({
      children: spec.maps.map((name) => configMap(name, { text: spec.text })),
      status: { count: spec.maps.length },
    }),
    ...more,
  });

scenario("each child and the status are written once, and nothing is asked that the watches do not tell", async (s) => {
  await s.run(widgets());
  await s.widget("w", { maps: ["a", "b"], text: "hello" });
  await s.settle();
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "hello" });
  const { metadata } = await s.user.get(ConfigMap, "default/b");
  assert.equal(metadata.ownerReferences?.[0]?.name, "w");
  assert.equal(metadata.ownerReferences?.[0]?.controller, true);
  assert.equal((await s.user.get(Widget, "default/w")).status?.count, 2);
  assert.deepEqual(
    s.requests.filter((request) => request.startsWith("GET")),
    [],
  );
  assert.deepEqual(s.writes().sort(), [
    "PATCH /api/v1/namespaces/default/configmaps/a",
    "PATCH /api/v1/namespaces/default/configmaps/b",
    "PATCH /apis/example.com/v1/namespaces/default/widgets/w/status",
  ]);
});

scenario("a restart over converged objects writes nothing and reads nothing but the lists", async (s) => {
  const first = await s.run(widgets());
  for (let i = 0; i < 50; i++) await s.widget(`w${i}`, { maps: [`a${i}`, `b${i}`], text: "hello" });
  await s.settle();
  await s.during(first.stop());
  s.requests.length = 0;
  await s.run(widgets());
  await s.settle();
  assert.deepEqual(s.requests, []);
});

scenario("what others change in a child is undone, and a deleted child is back", async (s) => {
  await s.run(widgets());
  await s.widget("w", { maps: ["a"], text: "hello" });
  await s.settle();
  await s.user.patch(ConfigMap, "default/a", { merge: { data: { text: "spoilt" } } });
  await s.settle();
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "hello" });
  await s.user.delete(ConfigMap, "default/a");
  await s.settle();
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "hello" });
  s.requests.length = 0;
});

scenario("fields that other managers add to a child are unchanged", async (s) => {
  await s.run(widgets());
  await s.widget("w", { maps: ["a"], text: "hello" });
  await s.settle();
  s.writes();
  await s.user.patch(ConfigMap, "default/a", { merge: { data: { theirs: "1" } } });
  await s.settle();
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "hello", theirs: "1" });
  assert.deepEqual(s.writes(), []);
});

scenario("a field that is no longer returned is released, also after a restart", async (s) => {
  const withExtra = controller(Widget, {
    name: "widgets",
    owns: [ConfigMap],
    reconcile: () => ({ children: [configMap("a", { text: "x", extra: "1" })] }),
  });
  const without = controller(Widget, {
    name: "widgets",
    owns: [ConfigMap],
    reconcile: () => ({ children: [configMap("a", { text: "x" })] }),
  });
  const first = await s.run(withExtra);
  await s.widget("w");
  await s.settle();
  await s.during(first.stop());
  await s.run(without);
  await s.settle();
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "x" });
});

scenario("children that are no longer returned go", async (s) => {
  await s.run(widgets());
  await s.widget("w", { maps: ["a", "b"] });
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { maps: ["b", "c"] } } });
  await s.settle();
  assert.equal(await s.exists(ConfigMap, "default/a"), false);
  assert.equal(await s.exists(ConfigMap, "default/b"), true);
  assert.equal(await s.exists(ConfigMap, "default/c"), true);
});

scenario("an empty list removes all children; no list leaves them unchanged", async (s) => {
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      reconcile: ({ spec }) =>
        spec.text === "leave" ? undefined : { children: spec.maps.map((name) => configMap(name, {})) },
    }),
  );
  await s.widget("w", { maps: ["a"] });
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { maps: [], text: "leave" } } });
  await s.settle();
  assert.equal(await s.exists(ConfigMap, "default/a"), true);
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "" } } });
  await s.settle();
  assert.equal(await s.exists(ConfigMap, "default/a"), false);
});

virtual("a reconciler that throws removes nothing", async (s) => {
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      backoff: { longest: 1000 },
      reconcile({ spec }) {
        if (spec.text === "throw") throw new Error("no");
        return { children: [configMap("a", {})] };
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "throw" } } });
  await s.clock.advance(60_000);
  assert.equal(await s.exists(ConfigMap, "default/a"), true);
});

scenario("a kind that a new version of the operator no longer returns is removed by it", async (s) => {
  const old = controller(Widget, {
    name: "widgets",
    owns: [ConfigMap, Secret],
    reconcile: () => ({
      children: [configMap("a", {}), Secret.draft({ metadata: { name: "s" }, stringData: { k: "v" } })],
    }),
  });
  const first = await s.run(old);
  await s.widget("w", { maps: ["a"] });
  await s.settle();
  assert.deepEqual((await s.user.get(Secret, "default/s")).data, { k: "dg==" });
  await s.during(first.stop());
  await s.run(widgets());
  await s.settle();
  assert.equal(await s.exists(Secret, "default/s"), false);
  assert.equal(await s.exists(ConfigMap, "default/a"), true);
});

scenario("a controller leaves the children of another controller of the same object alone", async (s) => {
  const one = (name: string) =>
    controller(Widget, { name, owns: [ConfigMap], reconcile: () => ({ children: [configMap(name, {})] }) });
  await s.run([one("first"), one("second")]);
  await s.widget("w");
  await s.settle();
  assert.equal(await s.exists(ConfigMap, "default/first"), true);
  assert.equal(await s.exists(ConfigMap, "default/second"), true);
});

scenario("a child of a kind that was not declared is an error that says what to do", async (s) => {
  await s.run(controller(Widget, { reconcile: () => ({ children: [configMap("a", {})] }) }));
  await s.widget("w");
  await s.settle();
  assert.match(s.warnings[0]!, /uses ConfigMap, which is not in owns: add it to owns/);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False UndeclaredChild");
});

scenario("a child in another namespace or outside of any is refused before anything is written", async (s) => {
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      reconcile: () => ({
        children: [ConfigMap.draft({ metadata: { name: "a", namespace: "other" } })],
      }),
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.match(s.warnings[0]!, /cannot own ConfigMap other\/a: it is in another namespace/);
  assert.equal(await s.exists(ConfigMap, "other/a"), false);
});

scenario("a child that is not an object is reported by its position, and nothing is written", async (s) => {
  const given = [configMap("a", {}), undefined as unknown as Child];
  await s.run(controller(Widget, { owns: [ConfigMap], reconcile: () => ({ children: given }) }));
  await s.widget("w");
  await s.settle();
  const { status } = await s.user.get(Widget, "default/w");
  const message = "children[1] is undefined: create children with Kind.draft({ metadata, spec })";
  assert.equal(status?.conditions?.find(({ type }) => type === "Ready")?.message, message);
  assert.equal(await s.exists(ConfigMap, "default/a"), false);
});

scenario("two children of the same name are refused", async (s) => {
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      reconcile: () => ({ children: [configMap("a", {}), configMap("a", {})] }),
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.match(s.warnings[0]!, /two children are called ConfigMap default\/a/);
});

scenario("an initial field belongs to the client that changes it, and is kept until then", async (s) => {
  const sized = (image: string) =>
    controller(Widget, {
      name: "widgets",
      owns: [Deployment],
      reconcile: () => ({ children: [plannedChild(deployment(image), { initially: { spec: { replicas: 3 } } })] }),
    });
  const replicas = async () => (await s.user.get(Deployment, "default/web")).spec?.replicas;
  const first = await s.run(sized("one"));
  await s.widget("w");
  await s.settle();
  assert.equal(await replicas(), 3);
  await s.during(first.stop());
  s.writes();
  const second = await s.run(sized("two"));
  await s.settle();
  assert.equal(await replicas(), 3);
  await s.user.patch(Deployment, "default/web", { merge: { spec: { replicas: 5 } } });
  await s.settle();
  assert.equal(await replicas(), 5);
  await s.during(second.stop());
  await s.run(sized("three"));
  await s.settle();
  assert.equal(await replicas(), 5);
  assert.deepEqual(
    s.writes().filter((write) => write.endsWith("deployments/web")),
    [
      "PATCH /apis/apps/v1/namespaces/default/deployments/web",
      "PATCH /apis/apps/v1/namespaces/default/deployments/web",
    ],
  );
});

function deployment(image: string) {
  const labels = { app: "web" };
  return Deployment.draft({
    metadata: { name: "web" },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "m", image }] } },
    },
  });
}

virtual("what admission makes of a child is accepted, and not fought over", async (s) => {
  s.interfere = async (request, next) => {
    if (request.method !== "PATCH" || !request.path.includes("/configmaps/")) return next(request);
    return next({ ...request, body: String(request.body).replace('"text":"quiet"', '"text":"QUIET"') });
  };
  await s.run(widgets());
  await s.widget("w", { maps: ["a"], text: "quiet" });
  await s.settle();
  for (let i = 0; i < 5; i++) {
    await s.user.patch(Widget, "default/w", { merge: { metadata: { labels: { round: String(i) } } } });
    await s.settle();
  }
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "QUIET" });
  assert.equal(s.writes().filter((write) => write.includes("configmaps")).length, 1);
  await s.user.patch(ConfigMap, "default/a", { merge: { data: { text: "spoilt" } } });
  await s.settle();
  assert.deepEqual(await dataOf(s.user, "default/a"), { text: "QUIET" });
});
