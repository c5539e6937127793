import assert from "node:assert/strict";
import { Event } from "@konverge/kinds";
import { controller } from "@konverge/runtime";
import { scenario, virtual } from "./scenario.ts";
import { conditionOf, Widget } from "./stage.ts";

const FINALIZER = "example.com/widgets-cleanup";

scenario("the finalizer is stored before the first reconcile, and goes after the cleanup", async (s) => {
  const steps: string[] = [];
  await s.run(
    controller(Widget, {
      async reconcile(widget, { client }) {
        const stored = await client.get(Widget, `default/${widget.metadata.name}`);
        steps.push(`reconcile ${stored.metadata.finalizers} ${widget.metadata.finalizers}`);
        return {};
      },
      cleanup() {
        steps.push("cleanup");
        return undefined;
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.deepEqual(steps, [`reconcile ${FINALIZER} ${FINALIZER}`]);
  await s.user.delete(Widget, "default/w");
  await s.settle();
  assert.equal(steps.at(-1), "cleanup");
  assert.equal(await s.exists(Widget, "default/w"), false);
});

scenario("only objects that need a cleanup get the finalizer; one that has it is cleaned up in any case", async (s) => {
  const cleaned: string[] = [];
  await s.run(
    controller(Widget, {
      reconcile: () => ({}),
      needsCleanup: ({ metadata }) => metadata.labels?.["remote"] === "yes",
      cleanup({ metadata }) {
        cleaned.push(metadata.name);
        return undefined;
      },
    }),
  );
  await s.widget("local");
  await s.widget("remote");
  const label = (name: string, remote: string | null) =>
    s.user.patch(Widget, `default/${name}`, { merge: { metadata: { labels: { remote } } } as never });
  await label("remote", "yes");
  await s.settle();
  assert.equal((await s.user.get(Widget, "default/local")).metadata.finalizers, undefined);
  assert.deepEqual((await s.user.get(Widget, "default/remote")).metadata.finalizers, [FINALIZER]);
  await label("remote", null);
  await s.settle();
  await s.user.delete(Widget, "default/local");
  await s.user.delete(Widget, "default/remote");
  await s.settle();
  assert.deepEqual(cleaned, ["remote"]);
  assert.equal(await s.exists(Widget, "default/remote"), false);
});

virtual("a cleanup that throws keeps the object, is tried again, and tells why", async (s) => {
  let broken = true;
  await s.run(
    controller(Widget, {
      backoff: { longest: 1000 },
      reconcile: () => ({}),
      cleanup() {
        if (broken) throw new Error("the bucket is not empty");
        return undefined;
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  await s.user.delete(Widget, "default/w");
  await s.clock.advance(30_000);
  const object = await s.user.get(Widget, "default/w");
  assert.equal(conditionOf(object, "Ready"), "False CleanupFailed");
  const [event] = (await s.user.list(Event, { namespace: "default" })).items;
  assert.equal(event?.reason, "CleanupFailed");
  assert.equal(event?.message, "the bucket is not empty");
  assert.ok(event.count! > 3);
  broken = false;
  await s.clock.advance(30_000);
  assert.equal(await s.exists(Widget, "default/w"), false);
});

virtual(
  "an object that the finalizer of a removed cleanup holds says so, and goes when there is a cleanup again",
  async (s) => {
    const before = await s.run(controller(Widget, { reconcile: () => ({}), cleanup: () => undefined }));
    await s.widget("w");
    await s.settle();
    await before.stop();
    const without = await s.run(controller(Widget, { reconcile: () => ({}) }));
    await s.user.delete(Widget, "default/w");
    await s.settle();
    const object = await s.user.get(Widget, "default/w");
    assert.equal(conditionOf(object, "Ready"), "False CleanupMissing");
    const [event] = (await s.user.list(Event, { namespace: "default" })).items;
    assert.equal(event?.reason, "CleanupMissing");
    assert.match(
      event?.message ?? "",
      /finalizer example\.com\/widgets-cleanup holds this object, and .* no cleanup any more/,
    );
    await without.stop();
    await s.run(controller(Widget, { reconcile: () => ({}), cleanup: () => undefined }));
    await s.settle();
    assert.equal(await s.exists(Widget, "default/w"), false);
  },
);

virtual("a cleanup that waits says for what", async (s) => {
  let waiting = true;
  await s.run(
    controller(Widget, {
      reconcile: () => ({}),
      cleanup: () => (waiting ? { waitingFor: "the volume to detach", requeueAfter: 5000 } : undefined),
    }),
  );
  await s.widget("w");
  await s.settle();
  await s.user.delete(Widget, "default/w");
  await s.clock.advance(20_000);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False CleaningUp");
  const [event] = (await s.user.list(Event, { namespace: "default" })).items;
  assert.equal(event?.message, "the deletion waits for the volume to detach");
  waiting = false;
  await s.clock.advance(20_000);
  assert.equal(await s.exists(Widget, "default/w"), false);
});

scenario("an object that is already being deleted gets no finalizer and no reconcile", async (s) => {
  await s.widget("w");
  await s.user.patch(Widget, "default/w", { merge: { metadata: { finalizers: ["example.com/other"] } } });
  await s.user.delete(Widget, "default/w");
  let calls = 0;
  const count = () => {
    calls++;
    return undefined;
  };
  await s.run(controller(Widget, { reconcile: count, cleanup: count }));
  await s.settle();
  assert.equal(calls, 0);
  assert.deepEqual(s.writes(), []);
});

virtual("a user who takes the finalizer away is obeyed", async (s) => {
  await s.run(
    controller(Widget, {
      backoff: { longest: 1000 },
      reconcile: () => ({}),
      cleanup() {
        throw new Error("never");
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  await s.user.delete(Widget, "default/w");
  await s.clock.advance(5000);
  await s.user.patch(Widget, "default/w", { merge: { metadata: { finalizers: [] } } });
  await s.settle();
  assert.equal(await s.exists(Widget, "default/w"), false);
});

virtual("finalizers that others add meanwhile are not lost", async (s) => {
  s.interfere = async (request, next) => {
    if (request.method === "PATCH" && !request.path.includes("/status")) {
      s.interfere = undefined;
      await s.user.patch(Widget, "default/w", { merge: { metadata: { finalizers: ["example.com/other"] } } });
    }
    return next(request);
  };
  await s.run(controller(Widget, { reconcile: () => ({}), cleanup: () => undefined }));
  await s.widget("w");
  await s.settle();
  const { finalizers } = (await s.user.get(Widget, "default/w")).metadata;
  assert.deepEqual(finalizers, ["example.com/other", FINALIZER]);
});
