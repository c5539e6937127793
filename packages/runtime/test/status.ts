import assert from "node:assert/strict";
import { conditionFalse, conditionTrue, type KindRef, readinessOf, sleep } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { controller, PermanentError } from "@konverge/runtime";
import { scenario, virtual } from "./scenario.ts";
import { conditionOf, configMap, Widget } from "./stage.ts";

scenario("the status is written once for each change, with the generation it speaks of", async (s) => {
  await s.run(controller(Widget, { reconcile: ({ spec }) => ({ status: { text: spec.text } }) }));
  await s.widget("w", { text: "1" });
  await s.settle();
  assert.equal(s.writes().length, 1);
  await s.user.patch(Widget, "default/w", { merge: { metadata: { labels: { a: "b" } } } });
  await s.settle();
  assert.equal(s.writes().length, 0);
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "2" } } });
  await s.settle();
  assert.equal(s.writes().length, 1);
  const { status, metadata } = await s.user.get(Widget, "default/w");
  assert.equal(status?.text, "2");
  assert.equal(status?.observedGeneration, metadata.generation);
});

virtual("a transition time changes when the status does, and not with the message", async (s) => {
  await s.run(
    controller(Widget, {
      reconcile: ({ spec }) => ({
        conditions: {
          Ready: spec.text.startsWith("y") ? conditionTrue("Y", spec.text) : conditionFalse("N", spec.text),
        },
      }),
    }),
  );
  const time = async () => (await s.user.get(Widget, "default/w")).status?.conditions?.[0]?.lastTransitionTime;
  await s.widget("w", { text: "y1" });
  await s.settle();
  const first = await time();
  await s.clock.advance(60_000);
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "y2" } } });
  await s.settle();
  assert.equal(await time(), first);
  assert.equal((await s.user.get(Widget, "default/w")).status?.conditions?.[0]?.message, "y2");
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "n" } } });
  await s.settle();
  assert.notEqual(await time(), first);
});

scenario("what others say in the status stays", async (s) => {
  await s.run(
    controller(Widget, { reconcile: () => ({ status: { count: 1 }, conditions: { Ready: conditionTrue("Fine") } }) }),
  );
  await s.widget("w");
  await s.settle();
  const theirs = {
    type: "Audited",
    status: "True",
    reason: "Ok",
    message: "",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  await s.user.applyStatus(
    Widget,
    { metadata: { name: "w", namespace: "default" }, status: { text: "theirs", conditions: [theirs] } } as never,
    { fieldManager: "auditor" },
  );
  await s.settle();
  const object = await s.user.get(Widget, "default/w");
  assert.equal(object.status?.text, "theirs");
  assert.equal(conditionOf(object, "Audited"), "True Ok");
  assert.equal(conditionOf(object, "Ready"), "True Fine");
});

/** Widgets, of which nothing is known but their name: neither conditions nor an observedGeneration. */
const Unknown: KindRef<Widget> = {
  group: Widget.group,
  version: Widget.version,
  kind: Widget.kind,
  plural: Widget.plural,
  namespaced: true,
};

scenario("who reports nothing owns nothing of what others report", async (s) => {
  await s.run(
    controller(Unknown, {
      name: "silent",
      reconcile: ({ spec }) => ({
        status: spec.text === "text" ? { text: "ours" } : {},
        conditions: spec.text === "speak" ? { Ready: conditionTrue("Fine") } : {},
      }),
    }),
  );
  await s.widget("w", { text: "text" });
  await s.settle();
  // Saying nothing any more leaves an empty status behind that is ours.
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "" } } });
  await s.settle();
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const audited = { type: "Audited", status: "True", reason: "Ok", message: "", lastTransitionTime } as const;
  const audit = (status: object) =>
    s.user.applyStatus(Widget, { metadata: { name: "w", namespace: "default" }, status }, { fieldManager: "auditor" });
  await audit({ text: "theirs", conditions: [audited] });
  await s.settle();
  s.writes();
  await s.user.patch(Widget, "default/w", { merge: { metadata: { labels: { look: "again" } } } });
  await s.settle();
  assert.deepEqual(s.writes(), []);
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "speak" } } });
  await s.settle();
  await audit({});
  const object = await s.user.get(Widget, "default/w");
  assert.equal(object.status?.text, undefined);
  assert.equal(conditionOf(object, "Audited"), undefined);
  assert.equal(conditionOf(object, "Ready"), "True Fine");
});

virtual("what others report while nothing is reported is not lost in the answer", async (s) => {
  const seen: (number | undefined)[] = [];
  await s.run(
    controller(Unknown, {
      name: "silent",
      reconcile({ status, spec }) {
        seen.push(status?.count);
        return { status: spec.text === "speak" ? { text: "x" } : {} };
      },
    }),
  );
  await s.widget("w", { text: "speak" });
  await s.settle();
  s.interfere = async (request, next) => {
    if (request.path.includes("/status")) {
      s.interfere = undefined;
      await s.user.patchStatus(Widget, "default/w", { merge: { status: { count: 7 } } });
    }
    return next(request);
  };
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "" } } });
  await s.settle();
  assert.deepEqual(seen, [undefined, undefined, 7]);
});

scenario("a status that others spoilt is put right", async (s) => {
  await s.run(controller(Widget, { reconcile: () => ({ status: { count: 7 } }) }));
  await s.widget("w");
  await s.settle();
  await s.user.patchStatus(Widget, "default/w", { merge: { status: { count: 0 } } });
  await s.settle();
  assert.equal((await s.user.get(Widget, "default/w")).status?.count, 7);
});

scenario("a field that is no longer reported is removed, and one about which nothing is said stays", async (s) => {
  await s.run(
    controller(Widget, {
      reconcile({ spec }) {
        if (spec.text === "both") return { status: { count: 1, text: "x" } };
        if (spec.text === "one") return { status: { count: 1 } };
        return { conditions: { Ready: conditionTrue("Fine") } };
      },
    }),
  );
  await s.widget("w", { text: "both" });
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "one" } } });
  await s.settle();
  assert.equal((await s.user.get(Widget, "default/w")).status?.text, undefined);
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "none" } } });
  await s.settle();
  const object = await s.user.get(Widget, "default/w");
  assert.equal(object.status?.count, 1);
  assert.equal(conditionOf(object, "Ready"), "True Fine");
});

scenario("the standard conditions follow from the children, and can be stated otherwise or left out", async (s) => {
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      reconcile: ({ spec }) => ({
        children: [configMap("a", {})],
        conditions: spec.text === "own" ? { Ready: conditionFalse("Moody"), Degraded: undefined } : {},
      }),
    }),
  );
  await s.widget("w");
  await s.settle();
  let object = await s.user.get(Widget, "default/w");
  assert.deepEqual(
    ["Ready", "Progressing", "Degraded"].map((type) => conditionOf(object, type)),
    ["True AsExpected", "False AsExpected", "False AsExpected"],
  );
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "own" } } });
  await s.settle();
  object = await s.user.get(Widget, "default/w");
  assert.deepEqual(
    ["Ready", "Progressing", "Degraded"].map((type) => conditionOf(object, type)),
    ["False Moody", "False AsExpected", undefined],
  );
});

virtual("what is said about an object is not written to the next of that name", async (s) => {
  const gate = Promise.withResolvers<void>();
  let runs = 0;
  await s.run(
    controller(Widget, {
      async reconcile({ spec }) {
        if (runs++ === 0) await gate.promise;
        return { status: { text: spec.text } };
      },
    }),
  );
  await s.widget("w", { text: "old" });
  await s.clock.advance(10);
  await s.user.delete(Widget, "default/w");
  await s.widget("w", { text: "new" });
  gate.resolve();
  await s.settle();
  assert.equal((await s.user.get(Widget, "default/w")).status?.text, "new");
});

scenario("an object that no controller has seen is not ready to those who wait by kstatus' rules", async (s) => {
  await s.run(controller(Widget, { name: "elsewhere", labelSelector: "never=matches", reconcile: () => ({}) }));
  await s.widget("w");
  const unseen = await s.user.get(Widget, "default/w");
  assert.equal(unseen.status?.observedGeneration, -1);
  assert.equal(readinessOf(unseen, 0).reason, "LatestGenerationNotObserved");
});

scenario("observedGeneration waits for a Ready condition of that generation", async (s) => {
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      reconcile: ({ spec }) => (spec.text === "later" ? { status: { count: 2 } } : { children: [configMap("a", {})] }),
    }),
  );
  await s.widget("w");
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "later" } } });
  await s.settle();
  const waiting = await s.user.get(Widget, "default/w");
  assert.deepEqual([waiting.metadata.generation, waiting.status?.observedGeneration, waiting.status?.count], [2, 1, 2]);
  assert.equal(conditionOf(waiting, "Ready"), "True AsExpected");
  assert.equal(readinessOf(waiting, 0).status, "InProgress");
});

virtual("a second controller of the same objects does not speak for their generation or readiness", async (s) => {
  const slow = Promise.withResolvers<void>();
  await s.run([
    controller(Widget, {
      name: "first",
      async reconcile() {
        await slow.promise;
        return { conditions: { Ready: conditionTrue("Fine") } };
      },
    }),
    controller(Widget, {
      name: "second",
      reconcile({ spec }) {
        if (spec.text === "bad") throw new PermanentError("BadText", "no");
        return { conditions: { Audited: conditionTrue("Ok") } };
      },
    }),
  ]);
  await s.widget("w");
  await s.clock.advance(100);
  const audited = await s.user.get(Widget, "default/w");
  assert.deepEqual([conditionOf(audited, "Audited"), audited.status?.observedGeneration], ["True Ok", -1]);
  slow.resolve();
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "bad" } } });
  await s.settle();
  const object = await s.user.get(Widget, "default/w");
  assert.equal(object.status?.observedGeneration, 2);
  assert.equal(conditionOf(object, "Ready"), "True Fine");
  assert.equal(conditionOf(object, "Stalled"), undefined);
});

scenario("an error that will not pass stalls the object, and the next success withdraws that", async (s) => {
  await s.run(
    controller(Widget, {
      reconcile({ spec }) {
        if (spec.text === "bad") throw new PermanentError("BadText", "no");
        return { status: { count: 1 } };
      },
    }),
  );
  await s.widget("w", { text: "bad" });
  await s.settle();
  const stalled = await s.user.get(Widget, "default/w");
  assert.deepEqual(readinessOf(stalled, 0), { status: "Failed", reason: "BadText", message: "no" });
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "good" } } });
  await s.settle();
  const repaired = await s.user.get(Widget, "default/w");
  assert.equal(conditionOf(repaired, "Stalled"), undefined);
  assert.equal(conditionOf(repaired, "Degraded"), "False AsExpected");
  assert.equal(readinessOf(repaired, 0).status, "Current");
});

scenario(
  "what an error has reported is withdrawn also by a reconciler that says itself whether the object is ready",
  async (s) => {
    await s.run(
      controller(Widget, {
        reconcile({ spec }) {
          if (spec.text === "bad") throw new PermanentError("BadText", "no");
          return { conditions: { Ready: conditionTrue("Fine") } };
        },
      }),
    );
    await s.widget("w", { text: "bad" });
    await s.settle();
    assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Degraded"), "True BadText");
    await s.user.patch(Widget, "default/w", { merge: { spec: { text: "good" } } });
    await s.settle();
    const repaired = await s.user.get(Widget, "default/w");
    assert.deepEqual(
      ["Ready", "Progressing", "Degraded", "Stalled"].map((type) => conditionOf(repaired, type)),
      ["True Fine", undefined, undefined, undefined],
    );
  },
);

virtual("a Ready condition from before a child was changed does not speak for the new generation", async (s) => {
  await s.run([
    controller(Widget, {
      name: "parents",
      labelSelector: "role=parent",
      owns: [Widget],
      reconcile({ spec }, { observed }) {
        const child = Widget.draft({ metadata: { name: "child", labels: { role: "child" } }, spec });
        const known = observed(child);
        const isReady = known && conditionOf(known, "Ready") === "True Fine";
        return { children: [child], conditions: { Ready: isReady ? conditionTrue("Fine") : conditionFalse("Waits") } };
      },
    }),
    controller(Widget, {
      name: "children",
      labelSelector: "role=child",
      async reconcile(_, { clock }) {
        await sleep(clock, 1000);
        return { conditions: { Ready: conditionTrue("Fine") } };
      },
    }),
  ]);
  await s.user.create(
    Widget,
    Widget.new({ metadata: { name: "w", namespace: "default", labels: { role: "parent" } }, spec: { text: "1" } }),
  );
  await s.settle();
  assert.equal(readinessOf(await s.user.get(Widget, "default/w"), 0).status, "Current");
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "2" } } });
  await s.clock.advance(500);
  assert.equal(readinessOf(await s.user.get(Widget, "default/w"), 0).status, "InProgress");
  await s.settle();
  assert.equal(readinessOf(await s.user.get(Widget, "default/w"), 0).status, "Current");
});

scenario(
  "a status without children, of a controller that owns some, says why the object cannot become ready",
  async (s) => {
    let isComplete = false;
    await s.run(
      controller(Widget, {
        owns: [ConfigMap],
        reconcile: ({ spec }) => ({
          status: { text: spec.text },
          ...(isComplete && { children: [] }),
        }),
      }),
    );
    await s.widget("w");
    await s.settle();
    const ready = async () => conditionOf(await s.user.get(Widget, "default/w"), "Ready");
    assert.equal(await ready(), "Unknown ChildrenNotReturned");
    assert.deepEqual(s.warnings, [
      "Widget default/w cannot become Ready: reconcile returned a status and no children, so it is not known whether its " +
        "ConfigMap is ready: return children ([] for none) or conditions.Ready",
    ]);
    isComplete = true;
    await s.user.patch(Widget, "default/w", { merge: { spec: { text: "2" } } });
    await s.settle();
    assert.match((await ready()) ?? "", /^True /);
    assert.equal(s.warnings.length, 1);
  },
);
