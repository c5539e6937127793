import assert from "node:assert/strict";
import { TransportError } from "@konverge/client";
import { ConfigMap, Secret } from "@konverge/kinds";
import { type Child, controller, ownedKind, type PlannedChildOptions, plannedChild } from "@konverge/runtime";
import { scenario, virtual } from "./scenario.ts";
import { conditionOf, configMap, dataOf, type Stage, Widget } from "./stage.ts";

const NAMED = { "example.com/widget": "yes" };

/** A ConfigMap for each name in `maps`, created with the text of that moment; the status counts them. */
const widgets = (more: { options?: object; planned?: PlannedChildOptions; created?: string[] } = {}) =>
  controller(Widget, {
    name: "widgets",
    owns: [ownedKind(ConfigMap, { createOnly: true, ...more.options })],
    reconcile: ({ spec }, { observed }) => ({
      children: spec.maps.map((name) =>
        plannedChild(
          ConfigMap.draft({ metadata: { name, labels: NAMED }, data: { text: spec.text } }) as Child,
          more.planned ?? {},
        ),
      ),
      report: ({ created, refused }) => {
        more.created?.push(...created.map(({ metadata }) => metadata.name!));
        return {
          status: {
            count: observed.all(ConfigMap).length,
            text: refused.map(({ child, reason }) => `${child.metadata.name} ${reason}`).join(),
          },
        };
      },
    }),
  });

/** As many ConfigMaps with generated names as the text says. */
const numbered = () =>
  controller(Widget, {
    name: "widgets",
    owns: [ownedKind(ConfigMap, { createOnly: true })],
    reconcile: ({ spec }) => ({
      children: Array.from({ length: Number(spec.text) }, () =>
        ConfigMap.draft({ metadata: { generateName: "part-" }, data: { text: "one" } }),
      ),
    }),
  });

const partsOf = async (s: Stage) =>
  (await s.user.list(ConfigMap, { namespace: "default" })).items
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.startsWith("part-"));

scenario(
  "a create-only child is created once by a POST, and not changed by anything that is returned later",
  async (s) => {
    const created: string[] = [];
    const first = await s.run(widgets({ created }));
    await s.widget("w", { maps: ["a", "b"], text: "1" });
    await s.settle();
    assert.deepEqual(s.writes().sort(), [
      "PATCH /apis/example.com/v1/namespaces/default/widgets/w/status",
      "POST /api/v1/namespaces/default/configmaps",
      "POST /api/v1/namespaces/default/configmaps",
    ]);
    assert.deepEqual(created.sort(), ["a", "b"]);
    await s.user.patch(Widget, "default/w", { merge: { spec: { text: "2" } } });
    await s.user.patch(ConfigMap, "default/a", { merge: { data: { theirs: "1" } } });
    await s.settle();
    assert.deepEqual(await dataOf(s.user, "default/a"), { text: "1", theirs: "1" });
    await s.during(first.stop());
    s.writes();
    await s.run(widgets());
    await s.settle();
    assert.deepEqual(s.writes(), [], "nothing is written after a restart");
  },
);

scenario(
  "a create-only child that is deleted is created again, and one that is no longer returned is deleted",
  async (s) => {
    await s.run(widgets());
    await s.widget("w", { maps: ["a", "b"], text: "1" });
    await s.settle();
    await s.user.delete(ConfigMap, "default/a");
    await s.settle();
    assert.deepEqual(await dataOf(s.user, "default/a"), { text: "1" });
    await s.user.patch(Widget, "default/w", { merge: { spec: { maps: ["a"] } } });
    await s.settle();
    assert.equal(await s.exists(ConfigMap, "default/b"), false);
    assert.equal((await s.user.get(Widget, "default/w")).status?.count, 1);
  },
);

scenario("an object of the same name that belongs to no one is adopted only if that is allowed", async (s) => {
  await s.user.create(ConfigMap, { metadata: { name: "a", namespace: "default" }, data: { text: "theirs" } } as never);
  const first = await s.run(widgets());
  await s.widget("w", { maps: ["a"], text: "ours" });
  await s.settle();
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False ChildExists");
  await s.during(first.stop());
  await s.run(widgets({ options: { adopt: "any" } }));
  await s.settle();
  const { metadata, data } = await s.user.get(ConfigMap, "default/a");
  assert.deepEqual([metadata.ownerReferences?.[0]?.name, data?.["text"]], ["w", "theirs"]);
});

scenario("a create-only child that loses the labels by which it is watched is replaced", async (s) => {
  await s.run(widgets({ options: { labelSelector: "example.com/widget=yes" } }));
  await s.widget("w", { maps: ["a"], text: "1" });
  await s.settle();
  const { metadata: before } = await s.user.get(ConfigMap, "default/a");
  const labels = { "example.com/widget": null };
  await s.user.patch(ConfigMap, "default/a", { merge: { metadata: { labels } } } as never);
  for (let i = 0; i < 40; i++) {
    await s.settle();
    const found = await s.user.get(ConfigMap, "default/a").catch(() => undefined);
    if (found && found.metadata.uid !== before.uid) return;
    await s.user.patch(Widget, "default/w", { merge: { spec: { text: `${i}` } } });
  }
  assert.fail("it is not replaced");
});

scenario(
  "there are as many children with a generated name as are returned with it, also after a restart",
  async (s) => {
    const first = await s.run(numbered());
    await s.widget("w", { text: "3" });
    await s.settle();
    const parts = await partsOf(s);
    assert.equal(parts.length, 3);
    for (const name of parts) assert.match(name, /^part-[a-z0-9]{5}$/);
    await s.user.delete(ConfigMap, `default/${parts[0]}`);
    await s.settle();
    assert.equal((await partsOf(s)).length, 3);
    await s.user.patch(Widget, "default/w", { merge: { spec: { text: "1" } } });
    await s.settle();
    assert.equal((await partsOf(s)).length, 1);
    await s.during(first.stop());
    s.writes();
    await s.run(numbered());
    await s.settle();
    assert.deepEqual(s.writes(), []);
  },
);

virtual("a watch that is late never makes two of a child with a generated name", async (s) => {
  s.interfere = async (request, next) => {
    const response = await next(request);
    const isWatch = request.path.includes("watch=true") && request.path.includes("configmaps");
    return isWatch
      ? { ...response, body: onlyTheListing(response.body as AsyncIterable<string | Uint8Array>) }
      : response;
  };
  await s.run(numbered());
  await s.widget("w", { text: "2" });
  await s.settle();
  for (const text of ["2 ", "2  "]) {
    await s.user.patch(Widget, "default/w", { merge: { spec: { text } } });
    await s.settle();
  }
  assert.equal((await partsOf(s)).length, 2);
});

/** A watch that never reports what happens after its listing. */
async function* onlyTheListing(body: AsyncIterable<string | Uint8Array>) {
  let listed = false;
  for await (const chunk of body) {
    if (!listed) yield chunk;
    listed ||= String(chunk).includes("initial-events-end");
  }
}

virtual("a creation whose response is lost is looked up, and not repeated", async (s) => {
  await s.run(numbered());
  let lost = 0;
  s.interfere = async (request, next) => {
    const response = await next(request);
    if (request.method === "POST" && request.path.includes("configmaps") && lost++ === 0)
      throw new TransportError("closed", "the connection was reset", { unknownOutcome: true });
    return response;
  };
  await s.widget("w", { text: "2" });
  await s.settle();
  assert.equal((await partsOf(s)).length, 2);
});

/** Refuses creations of ConfigMaps as a quota does, after the first so many. */
function limitMaps(s: Stage, limit: number): { tried: number } {
  const state = { tried: 0 };
  s.interfere = async (request, next) => {
    if (request.method !== "POST" || !request.path.includes("configmaps") || state.tried++ < limit)
      return next(request);
    const message = 'configmaps "x" is forbidden: exceeded quota: few, requested: count/configmaps=1';
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", message, reason: "Forbidden", code: 403 };
    return { status: 403, headers: { "content-type": "application/json" }, body: JSON.stringify(status) };
  };
  return state;
}

virtual("creations stop at the first refusal, which is reported, and are tried again later", async (s) => {
  const state = limitMaps(s, 3);
  await s.run(widgets({ planned: { onRefused: "report" } }));
  const maps = Array.from({ length: 20 }, (_, i) => `m${String(i).padStart(2, "0")}`);
  await s.widget("w", { maps, text: "1" });
  await s.settle();
  const { status } = await s.user.get(Widget, "default/w");
  assert.match(status?.text ?? "", /^m03 Forbidden/);
  assert.ok(state.tried < 12, `${state.tried} creations were tried`);
  s.interfere = undefined;
  await s.clock.advance(31_000);
  await s.settle();
  assert.equal((await s.user.get(Widget, "default/w")).status?.count, 20);
  assert.equal((await s.user.get(Widget, "default/w")).status?.text, "");
});

virtual("without a report, a refusal is in the object's conditions at once", async (s) => {
  limitMaps(s, 0);
  await s.run(widgets());
  await s.widget("w", { maps: ["a"], text: "1" });
  await s.settle();
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False ChildRefused");
});

virtual("a refused child that has its report left to the framework makes the object Degraded", async (s) => {
  limitMaps(s, 0);
  await s.run(
    controller(Widget, {
      owns: [ownedKind(ConfigMap, { createOnly: true }), Secret],
      reconcile: () => ({
        children: [
          plannedChild(configMap("a", {}), { onRefused: "report" }),
          Secret.draft({ metadata: { name: "s" }, data: {} }),
        ],
      }),
    }),
  );
  await s.widget("w");
  await s.settle();
  const widget = await s.user.get(Widget, "default/w");
  assert.deepEqual(
    ["Ready", "Degraded"].map((type) => conditionOf(widget, type)),
    ["False ChildrenFailed", "True ChildrenFailed"],
  );
  assert.ok(await s.exists(Secret, "default/s"), "the other children are applied");
});
