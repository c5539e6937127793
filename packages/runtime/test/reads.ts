import assert from "node:assert/strict";
import { metadataOnly } from "@konverge/client";
import { ConfigMap, Namespace, Secret } from "@konverge/kinds";
import { type ControllerOptions, cacheKind, controller, ownedKind, type ReconcileContext } from "@konverge/runtime";
import { scenario } from "./scenario.ts";
import { configMap, type Stage, Widget } from "./stage.ts";

const names = (objects: readonly { metadata: { name: string } }[]) =>
  objects.map(({ metadata }) => metadata.name).sort();

async function makeMaps(s: Stage): Promise<void> {
  const make = (name: string, namespace: string, colour: string) =>
    s.user.create(ConfigMap, { metadata: { name, namespace, labels: { colour } }, data: { text: name } });
  await make("red", "default", "red");
  await make("blue", "default", "blue");
  await make("green", "default", "green");
  await make("far", "other", "red");
}

/** What a reconciler with these declarations reads. */
async function reading<R>(
  s: Stage,
  options: Partial<ControllerOptions<Widget>>,
  ask: (cache: ReconcileContext["cache"]) => R,
): Promise<R> {
  let told: { value: R } | undefined;
  const manager = await s.run(
    controller(Widget, {
      ...options,
      reconcile(_widget, { cache }) {
        told = { value: ask(cache) };
        return undefined;
      },
    } as ControllerOptions<Widget>),
  );
  await s.widget("asked");
  await s.settle();
  await s.during(manager.stop());
  await s.user.delete(Widget, "default/asked");
  return told!.value;
}

const messageOf = (ask: () => unknown): string => {
  try {
    ask();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

scenario("several declarations of a kind are read as one", async (s) => {
  await makeMaps(s);
  const byText = { byText: (map: ConfigMap) => [map.data?.["text"] ?? ""] };
  const watches = [
    cacheKind(ConfigMap, { labelSelector: "colour=red", indexes: byText }),
    cacheKind(ConfigMap, { labelSelector: "colour in (red,blue)", namespaces: ["default"] }),
  ];
  const seen = await reading(s, { watches }, (cache) => ({
    all: names(cache.list(ConfigMap)),
    here: names(cache.list(ConfigMap, "default")),
    there: names(cache.list(ConfigMap, "other")),
    blue: cache.get(ConfigMap, "default/blue")?.data?.["text"],
    far: cache.get(ConfigMap, "other/far")?.data?.["text"],
    green: cache.get(ConfigMap, "default/green"),
    found: [cache.find(ConfigMap, "byText", "red").length, cache.find(ConfigMap, "byText", "blue").length],
  }));
  assert.deepEqual(seen, {
    all: ["blue", "far", "red"],
    here: ["blue", "red"],
    there: ["far"],
    blue: "blue",
    far: "far",
    green: undefined,
    found: [1, 0],
  });
});

scenario("metadata alone and whole objects are two things to declare", async (s) => {
  await makeMaps(s);
  const Marked = metadataOnly(ConfigMap);
  const both = [cacheKind(Marked), cacheKind(ConfigMap, { labelSelector: "colour=blue" })];
  const seen = await reading(s, { watches: both }, (cache) => ({
    marked: names(cache.list(Marked, "default").filter(({ metadata }) => metadata.labels?.["colour"])),
    whole: cache.list(ConfigMap).map(({ data }) => data?.["text"]),
  }));
  assert.deepEqual(seen, { marked: ["blue", "green", "red"], whole: ["blue"] });
  const alone = await reading(s, { watches: [cacheKind(Marked)] }, (cache) => messageOf(() => cache.list(ConfigMap)));
  assert.match(
    alone,
    /reads ConfigMap from the cache of which it has declared the metadata alone: add cacheKind\(ConfigMap\)/,
  );
});

scenario("what no declaration covers is an error, not an object that is not there", async (s) => {
  const watches = [cacheKind(ConfigMap, { namespaces: ["default"] }), cacheKind(Namespace), cacheKind(Secret)];
  const told = await reading(s, { watches }, (cache) => [
    messageOf(() => cache.get(ConfigMap, "other/far")),
    messageOf(() => cache.list(ConfigMap, "other")),
    messageOf(() => cache.get(Secret, "unqualified")),
    messageOf(() => cache.get(Namespace, "default/default")),
    messageOf(() => cache.find(Secret, "byType", "x")),
    messageOf(() => cache.list({ ...Secret, version: "v2" })),
  ]);
  for (const [i, expected] of [
    /ConfigMap from the cache in the namespace other, of which nothing is kept: it has declared default\. Add other/,
    /in the namespace other, of which nothing is kept/,
    /by the key "unqualified", but it is namespaced: its keys are `namespace\/name`/,
    /by the key "default\/default", but it has no namespaces/,
    /there is no index "byType": declare it in `indexes`/,
    /as v2, which it has declared as v1: use the same version/,
  ].entries())
    assert.match(told[i]!, expected);
});

scenario("controllers that hold the same kind of children in different ways each find their own", async (s) => {
  const maps = (name: string, by: "label" | "reference") =>
    controller(Widget, {
      name,
      owns: [ownedKind(ConfigMap, { by })],
      reconcile: ({ spec }) => ({ children: spec.maps.map((map) => configMap(`${name}-${map}`, {})) }),
    });
  await s.run([maps("labels", "label"), maps("references", "reference")]);
  await s.widget("w", { maps: ["a", "b"] });
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { maps: ["b"] } } });
  await s.settle();
  const left = names((await s.user.list(ConfigMap, { namespace: "default" })).items);
  assert.deepEqual(
    left.filter((name) => name !== "kube-root-ca.crt"),
    ["labels-b", "references-b"],
  );
});

scenario("two controllers may mean different things by the name of an index", async (s) => {
  await makeMaps(s);
  const found: Record<string, string[]> = {};
  const finder = (name: string, value: (map: ConfigMap) => string | undefined) =>
    controller(Widget, {
      name,
      watches: [cacheKind(ConfigMap, { indexes: { byValue: (map) => [value(map) ?? ""] } })],
      reconcile(_widget, { cache }) {
        found[name] = names(cache.find(ConfigMap, "byValue", "red"));
        return undefined;
      },
    });
  await s.run([finder("texts", ({ data }) => data?.["text"]), finder("colours", (m) => m.metadata.labels?.["colour"])]);
  await s.widget("w");
  await s.settle();
  assert.deepEqual(found, { texts: ["red"], colours: ["far", "red"] });
});
