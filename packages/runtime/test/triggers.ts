import assert from "node:assert/strict";
import { metadataOnly } from "@konverge/client";
import { ConfigMap, Secret } from "@konverge/kinds";
import {
  annotationsChanged,
  anyPredicate,
  cacheKind,
  controller,
  generationChanged,
  watchKind,
} from "@konverge/runtime";
import { scenario, virtual } from "./scenario.ts";
import { configMap, Widget } from "./stage.ts";

scenario("a watched object leads to those that `to` names, before and after the change", async (s) => {
  const seen: string[] = [];
  await s.run(
    controller(Widget, {
      watches: [watchKind(Secret, { to: ({ metadata }) => [`default/${metadata.labels?.["widget"]}`] })],
      reconcile(widget, { cache }) {
        seen.push(
          `${widget.metadata.name}: ${[...cache.list(Secret)].map(({ metadata }) => metadata.labels?.["widget"])}`,
        );
        return {};
      },
    }),
  );
  await s.widget("v");
  await s.widget("w");
  await s.settle();
  seen.length = 0;
  await s.user.create(Secret, { metadata: { name: "s", namespace: "default", labels: { widget: "v" } } });
  await s.settle();
  assert.deepEqual(seen.splice(0), ["v: v"]);
  await s.user.patch(Secret, "default/s", { merge: { metadata: { labels: { widget: "w" } } } });
  await s.settle();
  assert.deepEqual(seen.sort(), ["v: w", "w: w"]);
});

scenario("a watched object leads to those that refer to it", async (s) => {
  const seen: string[] = [];
  await s.run(
    controller(Widget, {
      watches: [watchKind(Secret, { references: (widget: Widget) => [`default/${widget.spec.text}`] })],
      reconcile(widget, { cache }) {
        seen.push(`${widget.metadata.name} ${cache.get(Secret, `default/${widget.spec.text}`) !== undefined}`);
        return {};
      },
    }),
  );
  await s.widget("v", { text: "one" });
  await s.widget("w", { text: "two" });
  await s.settle();
  seen.length = 0;
  await s.user.create(Secret, { metadata: { name: "two", namespace: "default" } });
  await s.settle();
  assert.deepEqual(seen, ["w true"]);
});

scenario("what is only read causes no look, and is found by declared indexes", async (s) => {
  const seen: string[] = [];
  await s.run(
    controller(Widget, {
      watches: [cacheKind(Secret, { indexes: { byType: ({ type }) => [type ?? ""] } })],
      reconcile(_widget, { cache }) {
        seen.push(
          cache
            .find(Secret, "byType", "special")
            .map(({ metadata }) => metadata.name)
            .join(),
        );
        return {};
      },
    }),
  );
  await s.user.create(Secret, { metadata: { name: "s", namespace: "default" }, type: "special" });
  await s.settle();
  assert.deepEqual(seen, []);
  await s.widget("w");
  await s.settle();
  assert.deepEqual(seen, ["s"]);
});

virtual("reading what was not declared is an error that says what to do", async (s) => {
  await s.run(controller(Widget, { reconcile: (_w, { cache }) => void cache.get(Secret, "default/s") as undefined }));
  await s.widget("w");
  await s.clock.advance(1000);
  assert.match(s.warnings[0]!, /add watchKind\(Secret, …\) or cacheKind\(Secret\) to `watches`/);
});

scenario("of a kind that is watched by its metadata alone, nothing else is fetched or kept", async (s) => {
  const seen: string[][] = [];
  const Marked = metadataOnly(Secret);
  await s.run(
    controller(Widget, {
      watches: [watchKind(Marked, { to: () => ["default/w"] })],
      reconcile(_widget, { cache }) {
        seen.push(
          cache.list(Marked, "default").map((secret) => `${secret.metadata.name} ${Object.keys(secret).sort()}`),
        );
        return {};
      },
    }),
  );
  await s.widget("w");
  await s.user.create(Secret, { metadata: { name: "s", namespace: "default" }, stringData: { key: "secret" } });
  await s.settle();
  assert.deepEqual(seen.at(-1), ["s apiVersion,kind,metadata"]);
});

scenario("what is read from the cache is in its selection, also what was just written", async (s) => {
  const seen: string[][] = [];
  await s.run(
    controller(Widget, {
      watches: [cacheKind(ConfigMap, { labelSelector: "colour=red" })],
      async reconcile({ spec }, { cache, client }) {
        const look = () => void seen.push(cache.list(ConfigMap).map(({ metadata }) => metadata.name));
        if (spec.text !== "go") return;
        const draft = (name: string, colour: string) => ({
          metadata: { name, namespace: "default", labels: { colour } },
        });
        await client.create(ConfigMap, draft("a", "blue"));
        look();
        await client.create(ConfigMap, draft("b", "red"));
        look();
        await client.patch(ConfigMap, "default/b", { merge: { metadata: { labels: { colour: "blue" } } } });
        look();
        await client.patch(ConfigMap, "default/a", { merge: { metadata: { labels: { colour: "red" } } } });
        look();
        return undefined;
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "go" } } });
  await s.settle();
  assert.deepEqual(seen, [[], ["b"], [], ["a"]]);
});

scenario("predicates decide which changes lead to a reconcile", async (s) => {
  let looks = 0;
  await s.run(
    controller(Widget, {
      when: anyPredicate(generationChanged, annotationsChanged),
      reconcile() {
        looks++;
        return {};
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.equal(looks, 1);
  await s.user.patch(Widget, "default/w", { merge: { metadata: { labels: { a: "b" } } } });
  await s.settle();
  assert.equal(looks, 1);
  await s.user.patch(Widget, "default/w", { merge: { metadata: { annotations: { a: "b" } } } });
  await s.settle();
  assert.equal(looks, 2);
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "x" } } });
  await s.settle();
  assert.equal(looks, 3);
});

virtual("a resync looks at everything now and then, and does not keep the cluster from settling", async (s) => {
  let looks = 0;
  await s.run(
    controller(Widget, {
      resync: 60_000,
      reconcile() {
        looks++;
        return {};
      },
    }),
  );
  await s.widget("v");
  await s.widget("w");
  await s.settle();
  assert.equal(looks, 2);
  await s.clock.advance(60_001);
  assert.equal(looks, 4);
});

virtual("`after` reconciles again later", async (s) => {
  let looks = 0;
  await s.run(
    controller(Widget, {
      reconcile() {
        looks++;
        return { requeueAfter: 10_000 };
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.equal(looks, 1);
  await s.clock.advance(35_000);
  assert.equal(looks, 4);
});

virtual("a source brings keys from outside, and is asked again when it fails", async (s) => {
  let looks = 0;
  let opened = 0;
  await s.run(
    controller(Widget, {
      sources: [
        async function* () {
          opened++;
          yield "default/w";
          throw new Error("connection lost");
        },
      ],
      reconcile() {
        looks++;
        return {};
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  const before = looks;
  await s.clock.advance(10_000);
  assert.ok(opened > 2);
  assert.ok(looks > before);
  assert.match(s.warnings[0]!, /source/);
});

scenario(
  "a child that changes leads to its owner, by its own write as well, until nothing changes any more",
  async (s) => {
    const seen: (string | undefined)[] = [];
    await s.run(
      controller(Widget, {
        owns: [ConfigMap],
        reconcile({ spec }, { observed }) {
          const map = configMap("a", { text: spec.text });
          seen.push(observed(map)?.data?.["text"]);
          return { children: [map] };
        },
      }),
    );
    await s.widget("w", { text: "1" });
    await s.settle();
    assert.deepEqual(seen, [undefined, "1"]);
  },
);

scenario("writes to children cause no further reconcile if only the object was read", async (s) => {
  let looks = 0;
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      reconcile({ metadata: { name }, spec: { text } }) {
        looks++;
        return { children: [configMap(name, { text })] };
      },
    }),
  );
  await s.widget("w", { text: "one" });
  await s.settle();
  assert.equal(looks, 1);
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "two" } } });
  await s.settle();
  assert.equal(looks, 2);
  // What others do to it is another matter.
  await s.user.patch(ConfigMap, "default/w", { merge: { data: { text: "three" } } });
  await s.settle();
  assert.equal(looks, 3);
  assert.equal((await s.user.get(ConfigMap, "default/w")).data?.["text"], "two");
  await s.user.delete(ConfigMap, "default/w");
  await s.settle();
  assert.equal(looks, 4);
  assert.equal((await s.user.get(ConfigMap, "default/w")).data?.["text"], "two");
});

scenario("a reconciler that reads its children runs again when it has created them", async (s) => {
  const seen: string[] = [];
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      reconcile({ metadata: { name } }, { observed }) {
        const child = configMap(name, {});
        seen.push(observed(child) ? "there" : "not there");
        return { children: [child] };
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.deepEqual(seen, ["not there", "there"]);
});

scenario("a slow reconciler may have read anything, and runs again", async (s) => {
  const seen: string[] = [];
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      async reconcile({ metadata: { name } }) {
        const { items } = await s.user.list(ConfigMap, { namespace: "default" });
        seen.push(items.map(({ metadata }) => metadata.name).join());
        return { children: [configMap(name, {})] };
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.deepEqual(
    seen.map((names) => names.includes("w")),
    [false, true],
  );
});
