import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Deployment, Event } from "@konverge/kinds";
import { controller, ExternalError, type Observer, PermanentError } from "@konverge/runtime";
import { conditionOf, configMap, stage, Widget } from "./stage.ts";

test("an error that may pass is tried again, ever more slowly, and reported when it does not pass", async () => {
  const s = await stage();
  const times: number[] = [];
  await s.run(
    controller(Widget, {
      reconcile() {
        times.push(s.clock.monotonic());
        throw new Error("the registry does not answer");
      },
    }),
  );
  await s.widget("w");
  await s.clock.advance(300);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), undefined);
  await s.clock.advance(10_000);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False ReconcileFailed");
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Degraded"), "True ReconcileFailed");
  const waits = times.slice(1).map((time, i) => time - times[i]!);
  assert.ok(waits.length >= 4 && waits.at(-1)! > waits[0]! * 3, `waits ${waits}`);
});

test("an error that will not pass is reported at once, and tried again when the object changes", async () => {
  const s = await stage();
  let looks = 0;
  await s.run(
    controller(Widget, {
      reconcile({ spec }) {
        looks++;
        if (spec.text === "bad") throw new PermanentError("BadText", "the text cannot be bad");
        return {};
      },
    }),
  );
  await s.widget("w", { text: "bad" });
  await s.settle();
  await s.clock.advance(3_000_000);
  assert.equal(looks, 1);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False BadText");
  const [event] = (await s.user.list(Event, { namespace: "default" })).items;
  assert.equal(`${event?.type} ${event?.reason} ${event?.message}`, "Warning BadText the text cannot be bad");
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "good" } } });
  await s.settle();
  // Once for the change, and again because a condition was removed.
  assert.equal(looks, 3);
});

test("the conditions of an error do not take away what was reported before", async () => {
  const s = await stage();
  await s.run(
    controller(Widget, {
      reconcile({ spec }) {
        if (spec.text === "bad") throw new PermanentError("BadText", "no");
        return { status: { count: 5 } };
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "bad" } } });
  await s.settle();
  const object = await s.user.get(Widget, "default/w");
  assert.equal(object.status?.count, 5);
  assert.equal(conditionOf(object, "Ready"), "False BadText");
});

test("something outside that is not there yet is asked for again after the time it names", async () => {
  const s = await stage();
  const times: number[] = [];
  await s.run(
    controller(Widget, {
      reconcile() {
        times.push(s.clock.monotonic());
        throw new ExternalError("NoBucket", "the bucket is being made", { requeueAfter: 7000 });
      },
    }),
  );
  await s.widget("w");
  await s.clock.advance(22_000);
  assert.equal(times.length, 4);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Progressing"), "True NoBucket");
});

test("a conflict is tried again in silence", async () => {
  const s = await stage();
  let first = true;
  await s.run(
    controller(Widget, {
      async reconcile(widget, { client }) {
        if (!first) return {};
        first = false;
        const { metadata } = widget;
        await client.update(Widget, { ...widget, metadata: { ...metadata, resourceVersion: "1" } });
        return {};
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.deepEqual(s.warnings, []);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "True AsExpected");
});

test("a poison object does not keep the others waiting", async () => {
  const s = await stage();
  const done = new Set<string>();
  await s.run(
    controller(Widget, {
      concurrency: 1,
      reconcile({ metadata }) {
        if (metadata.name === "poison") throw new Error("always");
        done.add(metadata.name);
        return {};
      },
    }),
  );
  await s.widget("poison");
  for (let i = 0; i < 20; i++) await s.widget(`w${i}`);
  await s.clock.advance(1000);
  assert.equal(done.size, 20);
});

test("a hanging reconcile is interrupted, then abandoned; it blocks no other and can no longer write", async () => {
  const s = await stage();
  const done = new Set<string>();
  const hang = Promise.withResolvers<void>();
  let interrupted = false;
  let late: unknown;
  let runs = 0;
  await s.run(
    controller(Widget, {
      concurrency: 1,
      deadline: 10_000,
      async reconcile(widget, { signal, client }) {
        if (widget.metadata.name !== "hangs" || runs++ > 0) {
          done.add(widget.metadata.name);
          return {};
        }
        signal.addEventListener("abort", () => {
          interrupted = true;
        });
        await hang.promise;
        late = await client
          .patch(Widget, "default/hangs", { merge: { spec: { text: "late" } } })
          .catch((e: Error) => e.message);
        return {};
      },
    }),
  );
  await s.widget("hangs");
  await s.clock.advance(1);
  await s.widget("w");
  await s.clock.advance(30_000);
  assert.equal(interrupted, true);
  assert.deepEqual([...done].sort(), ["hangs", "w"]);
  assert.match(s.warnings[0]!, /longer than 10000 ms/);
  hang.resolve();
  await s.settle();
  assert.match(String(late), /aborted/);
  assert.equal((await s.user.get(Widget, "default/hangs")).spec.text, "");
});

test("every trigger, read, request and outcome is reported to observers", async () => {
  const s = await stage();
  const told: string[] = [];
  const observer: Observer = {
    triggered: ({ key, trigger }) => void told.push(`trigger ${key} ${trigger.type} ${trigger.change}`),
    reconciling: ({ key, triggers }) => {
      told.push(`start ${key} ${triggers.length}`);
      return {
        around: (work) => work(),
        objectRead: (kind, readKey, object) => void told.push(`read ${kind.kind} ${readKey} ${object !== undefined}`),
        apiCall: ({ verb, kind, subresource }) => {
          return ({ object, error }) =>
            void told.push(`${verb} ${kind.kind} ${subresource ?? ""} ${object?.kind ?? error}`);
        },
        ended: ({ outcome, next }) => void told.push(`end ${outcome} ${next}`),
      };
    },
  };
  await s.run(
    controller(Widget, {
      reconcile: (_widget, { cache }) => ({ status: { count: [...cache.list(Widget)].length }, requeueAfter: 60_000 }),
    }),
    { observers: [observer, {}] },
  );
  await s.widget("w");
  await s.settle();
  assert.deepEqual(told, [
    "trigger default/w object added",
    "start default/w 1",
    "read Widget default/w true",
    "read Widget default/w true",
    "apply Widget status Widget",
    "end done 60000",
  ]);
});

test("a call that the role does not permit names the line to add, or the role that is out of date", async () => {
  const s = await stage();
  s.interfere = async (request, next) => {
    const [, plural = ""] = /\/(deployments|configmaps)/.exec(request.path) ?? [];
    if (plural === "" || request.path.includes("watch=true")) return next(request);
    const message = `${plural} is forbidden: User "operator" cannot list resource "${plural}" in API group ""`;
    return {
      status: 403,
      headers: {},
      body: JSON.stringify({ kind: "Status", code: 403, reason: "Forbidden", message }),
    };
  };
  await s.run(
    controller(Widget, {
      owns: [ConfigMap],
      async reconcile({ metadata, spec }, { client }) {
        if (spec.text === "undeclared") await client.list(Deployment, { namespace: metadata.namespace });
        return { children: [configMap("a", {})] };
      },
    }),
  );
  await s.widget("w", { text: "undeclared" });
  await s.clock.advance(60_000);
  const ready = async () =>
    (await s.user.get(Widget, "default/w")).status?.conditions?.find(({ type }) => type === "Ready");
  assert.match(
    (await ready())?.message ?? "",
    /cannot list resource .*: the controller does not declare this: add permissions: \[permission\(Deployment, \["list"\]\)\]$/,
  );
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "declared" } } });
  await s.clock.advance(60_000);
  assert.match(
    (await ready())?.message ?? "",
    /the controller declares this, so the role in the cluster is not its own/,
  );
});
