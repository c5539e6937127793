import assert from "node:assert/strict";
import { ConfigMap } from "@konverge/kinds";
import {
  controller,
  type DurableStep,
  durableSteps,
  ExternalError,
  type FieldChange,
  fieldChanges,
  PermanentError,
} from "@konverge/runtime";
import { scenario, virtual } from "./scenario.ts";
import { conditionOf, Widget } from "./stage.ts";

const texts = fieldChanges(Widget, { name: "text", of: ({ spec }) => ({ text: spec.text, maps: spec.maps }) });

const following = (seen: FieldChange<unknown>[], trouble: () => void = () => {}) =>
  controller(Widget, {
    name: "following",
    async reconcile(widget, context) {
      await texts.follow(widget, context, (change) => {
        trouble();
        seen.push(change);
      });
      return { status: { count: seen.length } };
    },
  });

scenario(
  "a change of a field is reported with its old value, also if it happened while the operator was down",
  async (s) => {
    const seen: FieldChange<unknown>[] = [];
    const first = await s.run(following(seen));
    await s.widget("w", { text: "1", maps: ["a"] });
    await s.settle();
    assert.deepEqual(seen, []);
    await s.user.patch(Widget, "default/w", { merge: { spec: { text: "2" } } });
    await s.settle();
    assert.deepEqual(seen.splice(0), [
      {
        old: { text: "1", maps: ["a"] },
        now: { text: "2", maps: ["a"] },
        diff: [{ path: "/text", before: "1", after: "2" }],
      },
    ]);
    await s.during(first.stop());
    await s.user.patch(Widget, "default/w", { merge: { spec: { text: "3" } } });
    await s.user.patch(Widget, "default/w", { merge: { spec: { text: "4" } } });
    await s.run(following(seen));
    await s.settle();
    assert.deepEqual(
      seen.map(({ diff }) => diff),
      [[{ path: "/text", before: "2", after: "4" }]],
    );
  },
);

virtual("a change that could not be handled is reported again", async (s) => {
  const seen: FieldChange<unknown>[] = [];
  let failures = 2;
  await s.run(
    following(seen, () => {
      if (failures-- > 0) throw new Error("not now");
    }),
  );
  await s.widget("w", { text: "1" });
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "2" } } });
  await s.settle();
  assert.deepEqual(
    seen.map(({ diff }) => diff[0]?.after),
    ["2"],
  );
});

/** Three steps, the second of which is given. */
const setup = (log: string[], middle: Partial<DurableStep<Widget>>) =>
  durableSteps(Widget, {
    name: "setup",
    basis: ({ spec }) => spec.text,
    sequence: {
      first: async () => {
        log.push("first");
        return { port: 80 };
      },
      middle: {
        async run(_widget, { attempt, outputs }) {
          log.push(`middle ${attempt} ${JSON.stringify(outputs)}`);
          return undefined;
        },
        ...middle,
      },
      last: async ({ metadata }, { client }) => {
        log.push("last");
        await client.apply(ConfigMap, { metadata: { name: `${metadata.name}-set-up`, namespace: "default" } });
      },
    },
  });

const settingUp = (log: string[], middle: Partial<DurableStep<Widget>> = {}) => {
  const own = setup(log, middle);
  return controller(Widget, {
    name: "setup",
    async reconcile(widget, context) {
      await own.run(widget, context);
      return { status: { text: "ready" }, conditions: { Ready: { status: "True", reason: "SetUp" } } };
    },
  });
};

scenario("steps are taken one after the other, each once, also across restarts", async (s) => {
  const log: string[] = [];
  const first = await s.run(settingUp(log));
  await s.widget("w");
  await s.settle();
  assert.deepEqual(log.splice(0), ["first", 'middle 1 {"first":{"port":80}}', "last"]);
  await s.during(first.stop());
  await s.run(settingUp(log));
  await s.user.patch(Widget, "default/w", { merge: { metadata: { labels: { a: "b" } } } });
  await s.settle();
  assert.deepEqual(log, []);
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "again" } } });
  await s.settle();
  assert.deepEqual(log, ["first", 'middle 1 {"first":{"port":80}}', "last"]);
  const { metadata } = await s.user.get(Widget, "default/w");
  const { last } = setup([], {}).progress(await s.user.get(Widget, "default/w"));
  assert.equal(last?.state, "done", metadata.annotations?.["konverge.dev/steps-setup"]);
});

virtual("a step that fails is tried again, later and later, from where the previous process left it", async (s) => {
  const log: string[] = [];
  const times: number[] = [];
  const run: DurableStep<Widget>["run"] = async (_widget, { attempt, clock }) => {
    times.push(clock.monotonic());
    if (attempt < 4) throw new Error("not now");
  };
  const first = await s.run(settingUp(log, { run }));
  await s.widget("w");
  await s.clock.advance(1_200);
  assert.equal(times.length, 2);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False StepRetrying");
  await s.during(first.stop());
  await s.run(settingUp(log, { run }));
  await s.clock.advance(30_000);
  assert.equal(times.length, 4);
  assert.deepEqual(log, ["first", "last"]);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "True SetUp");
});

virtual("after its retries a step has failed for good, until the basis changes", async (s) => {
  let tries = 0;
  const run: DurableStep<Widget>["run"] = async () => {
    tries++;
    throw new Error("it is broken");
  };
  await s.run(settingUp([], { run, retries: 2 }));
  await s.widget("w");
  await s.clock.advance(3_600_000);
  assert.equal(tries, 3);
  const widget = await s.user.get(Widget, "default/w");
  assert.equal(conditionOf(widget, "Ready"), "False StepFailed");
  const { message } = widget.status!.conditions!.find(({ type }) => type === "Ready")!;
  assert.equal(message, "step middle has failed for good, after 3 tries: it is broken");
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "other" } } });
  await s.clock.advance(60_000);
  assert.equal(tries, 6);
});

virtual("waiting for something is no failure, but has its time", async (s) => {
  let tries = 0;
  const run: DurableStep<Widget>["run"] = async () => {
    tries++;
    throw new ExternalError("NotThere", "the disk is not there", { requeueAfter: 10_000 });
  };
  await s.run(settingUp([], { run, retries: 0, timeout: 65_000 }));
  await s.widget("w");
  await s.clock.advance(30_000);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False NotThere");
  await s.clock.advance(600_000);
  assert.equal(tries, 7);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False StepFailed");
});

virtual("a hanging step times out, and one that cannot succeed fails at once", async (s) => {
  let aborted = false;
  const hang: DurableStep<Widget>["run"] = (_widget, { signal }) =>
    new Promise(() => {
      signal.addEventListener("abort", () => {
        aborted = true;
      });
    });
  const first = await s.run(settingUp([], { run: hang, timeout: 30_000 }));
  await s.widget("w");
  await s.clock.advance(120_000);
  assert.equal(aborted, true);
  const ready = async () => conditionOf(await s.user.get(Widget, "default/w"), "Ready");
  assert.equal(await ready(), "False StepFailed");
  await s.during(first.stop());
  const refuse: DurableStep<Widget>["run"] = () => Promise.reject(new PermanentError("Wrong", "never"));
  await s.run(settingUp([], { run: refuse }));
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "other" } } });
  await s.clock.advance(1_000);
  assert.equal(await ready(), "False StepFailed");
});

virtual("a try that a crash cut off counts", async (s) => {
  const hang: DurableStep<Widget>["run"] = () => new Promise(() => {});
  for (let i = 0; i < 2; i++) {
    const manager = await s.run(settingUp([], { run: hang, retries: 1 }), { gracefulShutdownTimeout: 1_000 });
    if (i === 0) await s.widget("w");
    await s.clock.advance(1_000);
    await s.during(manager.stop());
  }
  let tries = 0;
  const run: DurableStep<Widget>["run"] = async () => void tries++;
  await s.run(settingUp([], { run, retries: 1 }));
  await s.clock.advance(1_000);
  assert.equal(tries, 0);
  assert.equal(conditionOf(await s.user.get(Widget, "default/w"), "Ready"), "False StepFailed");
});
