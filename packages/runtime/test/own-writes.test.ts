import assert from "node:assert/strict";
import { test } from "node:test";
import { keyOf } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { cacheKind, controller, type ReconcileContext } from "@konverge/runtime";
import { deafTo } from "./deaf-watch.ts";
import { configMap, type Interference, stage, Widget } from "./stage.ts";

/** Creates a ConfigMap with a generated name if there is none yet: the classic that makes duplicates. */
const atMostOne = controller(Widget, {
  owns: [ConfigMap],
  async reconcile(widget, { observed, client }) {
    if (observed.all(ConfigMap).length === 0) {
      await client.create(ConfigMap, {
        metadata: {
          generateName: "gen-",
          namespace: "default",
          ownerReferences: [
            {
              apiVersion: "example.com/v1",
              kind: "Widget",
              name: widget.metadata.name,
              uid: widget.metadata.uid!,
              controller: true,
            },
          ],
        },
      });
    }
    return {};
  },
});

test("a reconcile sees what the one before it created, before the watch reports it", async () => {
  const s = await stage();
  s.interfere = deafTo("configmaps");
  await s.run(atMostOne);
  await s.widget("w");
  await s.settle();
  for (let i = 0; i < 5; i++) {
    await s.user.patch(Widget, "default/w", { merge: { spec: { text: String(i) } } });
    await s.settle();
  }
  assert.equal((await s.user.list(ConfigMap, { namespace: "default" })).items.length, 1);
});

test("a reconcile does not see what it has deleted, before the watch reports it", async () => {
  const s = await stage();
  const { metadata } = await s.widget("w");
  const owner = { apiVersion: "example.com/v1", kind: "Widget", name: "w", uid: metadata.uid!, controller: true };
  await s.user.create(ConfigMap, { metadata: { name: "a", namespace: "default", ownerReferences: [owner] } });
  const seen: number[] = [];
  s.interfere = deafTo("configmaps");
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      async reconcile(_widget, { observed, client }) {
        const maps = observed.all(ConfigMap);
        seen.push(maps.length);
        for (const map of maps) await client.delete(ConfigMap, keyOf(map));
        return {};
      },
    }),
  );
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "again" } } });
  await s.settle();
  assert.equal(seen[0], 1);
  assert.ok(seen.length > 1 && seen.slice(1).every((count) => count === 0), `saw ${seen}`);
});

test("what a reconcile reads past the cache is not older in the cache afterwards", async () => {
  const s = await stage();
  s.interfere = deafTo("configmaps");
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      async reconcile({ spec }, { observed, client }: ReconcileContext) {
        if (spec.text === "read") {
          await client.get(ConfigMap, "default/a");
          return { status: { text: observed(configMap("a", {}))?.data?.["theirs"] } };
        }
        return { children: [configMap("a", { ours: "1" })] };
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  await s.user.patch(ConfigMap, "default/a", { merge: { data: { theirs: "2" } } });
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "read" } } });
  await s.settle();
  assert.equal((await s.user.get(Widget, "default/w")).status?.text, "2");
});

test("objects that a reconcile was given by its client are its own to change", async () => {
  const s = await stage();
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      async reconcile({ spec }, { client, observed }) {
        const map = observed(configMap("a", {})) ? await client.get(ConfigMap, "default/a") : undefined;
        if (!map) return { children: [configMap("a", { text: spec.text })] };
        await client.update(ConfigMap, { ...map, data: { ...map.data, more: "1" } });
        return {};
      },
    }),
  );
  await s.widget("w", { text: "1" });
  await s.clock.advance(1000);
  assert.deepEqual((await s.user.get(ConfigMap, "default/a")).data, { text: "1", more: "1" });
  assert.deepEqual(s.warnings, []);
});

/** The server carries the request out, and its answer is lost. */
const lose = (isLost: (method: string, path: string) => boolean): Interference => {
  let lost = false;
  return async (request, next) => {
    const response = await next(request);
    if (lost || !isLost(request.method, request.path)) return response;
    lost = true;
    throw new Error("connection reset");
  };
};

test("a creation whose answer was lost is looked for before the next try, so that there are no two", async () => {
  const s = await stage();
  const deaf = deafTo("configmaps");
  const losing = lose((method, path) => method === "POST" && path.includes("configmaps"));
  s.interfere = (request, next) => deaf(request, (one) => losing(one, next));
  await s.run(atMostOne);
  await s.widget("w");
  await s.settle();
  assert.equal((await s.user.list(ConfigMap, { namespace: "default" })).items.length, 1);
});

test("a status whose answer was lost is not written again", async () => {
  const s = await stage();
  s.interfere = lose((method, path) => method === "PATCH" && path.includes("/status"));
  await s.run(controller(Widget, { reconcile: () => ({ status: { count: 1 } }) }));
  await s.widget("w");
  await s.settle();
  assert.equal((await s.user.get(Widget, "default/w")).status?.count, 1);
  assert.equal(s.writes().filter((write) => write.includes("/status")).length, 1);
});

test("a deletion whose answer was lost is looked for as well", async () => {
  const s = await stage();
  const deaf = deafTo("configmaps");
  const losing = lose((method) => method === "DELETE");
  s.interfere = (request, next) => deaf(request, (one) => losing(one, next));
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      reconcile: ({ spec }) => ({ children: spec.maps.map((name) => configMap(name, {})) }),
    }),
  );
  await s.widget("w", { maps: ["a"] });
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { maps: [] } } });
  await s.settle();
  assert.equal(await s.exists(ConfigMap, "default/a"), false);
  assert.equal(s.writes().filter((write) => write.startsWith("DELETE")).length, 1);
});

test("what others change while a status is being written is not lost in its answer", async () => {
  for (const change of [{ spec: { text: "2" } }, { metadata: { labels: { colour: "red" } } }]) {
    const s = await stage();
    const seen: string[] = [];
    await s.run(
      controller(Widget, {
        reconcile({ spec, metadata }) {
          seen.push(`${spec.text} ${metadata.labels?.["colour"]}`);
          return { status: { text: spec.text } };
        },
      }),
    );
    s.interfere = async (request, next) => {
      if (request.path.includes("/status")) {
        s.interfere = undefined;
        await s.user.patch(Widget, "default/w", { merge: change });
      }
      return next(request);
    };
    await s.widget("w", { text: "1" });
    await s.settle();
    assert.deepEqual(seen, ["1 undefined", change.spec ? "2 undefined" : "1 red"]);
  }
});

test("nor what others say in the status", async () => {
  const s = await stage();
  const seen: (number | undefined)[] = [];
  await s.run(
    controller(Widget, {
      reconcile({ status }) {
        seen.push(status?.count);
        return { status: { text: "ours" } };
      },
    }),
  );
  s.interfere = async (request, next) => {
    if (request.path.includes("/status")) {
      s.interfere = undefined;
      await s.user.patchStatus(Widget, "default/w", { merge: { status: { count: 7 } } });
    }
    return next(request);
  };
  await s.widget("w");
  await s.settle();
  assert.deepEqual(seen, [undefined, 7]);
});

test("a raw request is read back like any other write, and forgotten objects are gone", async () => {
  const s = await stage();
  const seen: (string | undefined)[] = [];
  let first = true;
  await s.run(
    controller(Widget, {
      watches: [cacheKind(ConfigMap)],
      async reconcile(_widget, { client, cache }) {
        if (!first) return {};
        first = false;
        const path = "/api/v1/namespaces/default/configmaps";
        const look = () => seen.push(cache.get(ConfigMap, "default/raw")?.data?.["a"]);
        const made = await client.request({
          method: "POST",
          path,
          body: { metadata: { name: "raw" }, data: { a: "1" } },
        });
        assert.equal((JSON.parse(made) as ConfigMap).metadata.name, "raw");
        look();
        const contentType = "application/merge-patch+json";
        await client.request({ method: "PATCH", path: `${path}/raw`, contentType, body: { data: { a: "2" } } });
        look();
        await client.request({ method: "DELETE", path: `${path}/raw` });
        look();
        return {};
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.deepEqual(seen, ["1", "2", undefined]);
});
