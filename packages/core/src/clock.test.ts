import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { microTimestamp, realClock, sleep, timestamp } from "./clock.ts";
import { VirtualClock } from "./virtual-clock.ts";

test("times are written as Kubernetes writes them", async () => {
  const clock = new VirtualClock({ start: Date.UTC(2026, 0, 2, 3, 4, 5, 678) });
  assert.equal(timestamp(clock), "2026-01-02T03:04:05Z");
  assert.equal(microTimestamp(clock), "2026-01-02T03:04:05.678000Z");
});

test("a sleep ends on time", async () => {
  const clock = new VirtualClock();
  let woken = false;
  const sleeping = sleep(clock, 100).then(() => {
    woken = true;
  });
  await clock.advance(99);
  assert.equal(woken, false);
  await clock.advance(1);
  await sleeping;
  assert.equal(woken, true);
});

test("an aborted sleep rejects with the reason and leaves no timer behind", async () => {
  const clock = new VirtualClock();
  const controller = new AbortController();
  const reason = new Error("shutting down");
  const sleeping = sleep(clock, 100, { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(sleeping, reason);
  assert.deepEqual(clock.pending(), []);
  await assert.rejects(sleep(clock, 100, { signal: controller.signal }), reason);
  assert.deepEqual(clock.pending(), []);
});

test("a sleep that ended forgets its signal", async () => {
  const clock = new VirtualClock();
  const controller = new AbortController();
  const sleeping = sleep(clock, 1, { signal: controller.signal });
  await clock.advance(1);
  await sleeping;
  assert.deepEqual(getEventListeners(controller.signal, "abort"), []);
});

test("the real clock posts in order and keeps time", async () => {
  const clock = realClock(1);
  const observed: string[] = [];
  const before = clock.monotonic();
  await new Promise<void>((resolve) => {
    clock.post(() => observed.push("first"), "a");
    clock.post(() => observed.push("second"), "a");
    clock.after(0, () => assert.fail("was cancelled")).cancel();
    clock.after(1, resolve);
  });
  await new Promise<void>((resolve) => clock.post(resolve, "a"));
  assert.deepEqual(observed, ["first", "second"]);
  assert.ok(clock.monotonic() >= before);
  assert.equal(realClock(1).random.next(), realClock(1).random.next());
});

test("the real clock does not take a month for a moment", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const clock = realClock(1);
  const month = 30 * 86_400_000;
  let fired = 0;
  clock.after(month, () => fired++);
  const cancelled = clock.after(month, () => assert.fail("was cancelled"));
  clock.after(Number.POSITIVE_INFINITY, () => assert.fail("never comes"), { background: true }).cancel();
  t.mock.timers.tick(2 ** 31 - 1);
  assert.equal(fired, 0);
  cancelled.cancel();
  t.mock.timers.tick(month - (2 ** 31 - 1) - 1);
  assert.equal(fired, 0);
  t.mock.timers.tick(1);
  assert.equal(fired, 1);
});
