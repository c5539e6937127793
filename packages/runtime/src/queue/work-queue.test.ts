import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import fc from "fast-check";
import { type QueuePriority, WorkQueue, type WorkQueueOptions } from "./work-queue.ts";

function newQueue(options: Partial<WorkQueueOptions> = {}) {
  const clock = new VirtualClock();
  return { clock, queue: new WorkQueue({ clock, name: "test", ...options }) };
}

/** Takes all that can be taken now, and finishes it. */
function drain(queue: WorkQueue): string[] {
  const keys: string[] = [];
  for (let item = queue.take(); item; item = queue.take()) {
    keys.push(item.key);
    queue.done(item.key);
  }
  return keys;
}

test("a key that is added twice is handed out once", () => {
  const { queue } = newQueue();
  queue.add("a");
  queue.add("a");
  assert.deepEqual(drain(queue), ["a"]);
});

test("a key that is added while it is worked on is handed out again afterwards, and not before", () => {
  const { queue } = newQueue();
  queue.add("a");
  queue.take();
  queue.add("a");
  assert.equal(queue.take(), undefined);
  queue.done("a");
  assert.deepEqual(drain(queue), ["a"]);
});

test("a delayed key is handed out when its time has come; the earliest request counts", async () => {
  const { clock, queue } = newQueue();
  queue.add("a", { after: 1000 });
  queue.add("a", { after: 100 });
  queue.add("a", { after: 500 });
  await clock.advance(99);
  assert.equal(queue.take(), undefined);
  await clock.advance(1);
  assert.deepEqual(drain(queue), ["a"]);
  await clock.advance(10_000);
  assert.equal(queue.take(), undefined);
});

test("a delayed request does not keep a cluster from being idle; a retry does", () => {
  const { clock, queue } = newQueue();
  queue.add("a", { after: 1000 });
  assert.equal(clock.nextForeground(), undefined);
  queue.add("b");
  queue.take();
  queue.retry("b");
  assert.equal(clock.nextForeground()?.label, "test: retry");
});

test("the last result decides about looking again", async () => {
  const { clock, queue } = newQueue();
  queue.add("a");
  queue.take();
  queue.done("a", { after: 1000 });
  queue.add("a");
  queue.take();
  queue.done("a");
  await clock.advance(5000);
  assert.equal(queue.take(), undefined);
});

test("retries wait ever longer, with jitter, up to the longest wait, and start small again after a success", async () => {
  const { clock, queue } = newQueue({ backoff: { initial: 100, longest: 1000 } });
  queue.add("a");
  const waits: number[] = [];
  for (let i = 0; i < 7; i++) {
    queue.take();
    waits.push(queue.retry("a"));
    await clock.advance(waits[i]!);
  }
  for (const [i, wait] of waits.entries()) {
    const range = Math.min(100 * 2 ** i, 1000);
    assert.ok(wait >= range / 2 && wait <= range, `wait ${i} is ${wait}`);
  }
  queue.take();
  assert.equal(queue.failures("a"), 7);
  queue.done("a");
  assert.equal(queue.failures("a"), 0);
  queue.add("a");
  queue.take();
  assert.ok(queue.retry("a") <= 100);
});

test("a change of a failing key does not wait for its retry", () => {
  const { queue } = newQueue();
  queue.add("a");
  queue.take();
  queue.retry("a");
  assert.equal(queue.take(), undefined);
  queue.add("a");
  assert.equal(queue.take()?.key, "a");
});

test("fresh changes go before what a listing brought up, in the same namespace as well", () => {
  const { queue } = newQueue();
  for (let i = 0; i < 1000; i++) queue.add(`n0/old${i}`, { priority: "low" });
  queue.add("n0/fresh");
  queue.add("n0/old900");
  assert.equal(queue.take()?.key, "n0/fresh");
  assert.equal(queue.take()?.key, "n0/old900");
});

test("a waiting key moves up when it is added with a higher priority", () => {
  const { queue } = newQueue();
  queue.add("a", { priority: "low" });
  queue.add("b", { priority: "low" });
  queue.add("b", { priority: "high" });
  assert.deepEqual(drain(queue), ["b", "a"]);
});

test("what has waited long enough goes before what is more urgent and fresh", async () => {
  const { clock, queue } = newQueue({ aging: 1000 });
  queue.add("x/old", { priority: "low" });
  await clock.advance(999);
  queue.add("y/fresh");
  await clock.advance(2);
  queue.add("z/fresher");
  assert.deepEqual(drain(queue), ["y/fresh", "x/old", "z/fresher"]);
});

test("a namespace with many keys does not hold up another with one", () => {
  const { queue } = newQueue();
  for (let i = 0; i < 1000; i++) queue.add(`noisy/${i}`);
  queue.add("quiet/only");
  const first = [queue.take(), queue.take()].map((item) => item?.key);
  assert.ok(first.includes("quiet/only"), `got ${first}`);
});

test("a namespace that was busy once is not held to account for it later", async () => {
  const { clock, queue } = newQueue();
  for (let i = 0; i < 1000; i++) queue.add(`noisy/${i}`);
  drain(queue);
  await clock.advance(1);
  queue.add("noisy/again");
  queue.add("quiet/only");
  assert.equal(queue.take()?.key, "noisy/again");
});

test("a rate limit spreads keys over time", async () => {
  const { clock, queue } = newQueue({ rateLimit: { perSecond: 10, burst: 2 } });
  let ready = 0;
  queue.onReady = () => ready++;
  for (let i = 0; i < 5; i++) queue.add(`k${i}`);
  assert.equal(drain(queue).length, 2);
  ready = 0;
  await clock.advance(100);
  assert.equal(ready, 1);
  assert.equal(drain(queue).length, 1);
  await clock.advance(1000);
  assert.equal(drain(queue).length, 2);
});

test("a closed queue hands out nothing and starts no timer", async () => {
  const { clock, queue } = newQueue();
  queue.add("a");
  queue.take();
  queue.add("b");
  queue.add("c", { after: 10 });
  queue.close();
  queue.retry("a");
  queue.add("d");
  assert.equal(queue.take(), undefined);
  assert.deepEqual(clock.pending(), []);
});

test("returning a key that no worker has taken is a mistake", () => {
  const { queue } = newQueue();
  assert.throws(() => queue.done("a"), /no worker had taken it/);
});

type Step =
  | { do: "add"; key: string; priority: QueuePriority; after: number }
  | { do: "take" }
  | { do: "done" | "retry"; which: number }
  | { do: "wait"; ms: number };

const key = fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(4)).map(([ns, i]) => `${ns}/${i}`);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("add" as const),
      key,
      priority: fc.constantFrom<QueuePriority>("low", "normal", "high"),
      after: fc.constantFrom(0, 0, 0, 5, 500),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ do: "take" as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("done" as const, "retry" as const), which: fc.nat(10) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(1000) }) },
);

test("whatever happens, no key is with two workers, and every add is followed by a hand-out", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { clock, queue } = newQueue();
      const working = new Set<string>();
      /** Keys that were added, or failed, after they were last handed out. */
      const owed = new Set<string>();
      const take = () => {
        const item = queue.take();
        if (!item) return false;
        assert.ok(!working.has(item.key), `${item.key} is with two workers`);
        working.add(item.key);
        owed.delete(item.key);
        return true;
      };
      for (const one of steps) {
        const busy = [...working];
        if (one.do === "add") {
          queue.add(one.key, one);
          // An add that is to come later is withdrawn by a later result: see "the last result decides".
          if (one.after === 0) owed.add(one.key);
        } else if (one.do === "take") take();
        else if (one.do === "wait") await clock.advance(one.ms);
        else if (busy.length > 0) {
          const returned = busy[one.which % busy.length]!;
          working.delete(returned);
          if (one.do === "retry") {
            queue.retry(returned);
            owed.add(returned);
          } else queue.done(returned);
        }
      }
      for (let round = 0; round < 3; round++) {
        for (const returned of working) queue.done(returned);
        working.clear();
        while (take());
        await clock.advance(600_000);
      }
      assert.deepEqual([...owed], [], "some keys were added and never handed out");
      assert.equal(queue.depth, 0);
    }),
    { numRuns: 300 },
  );
});

test("no key waits longer than the aging of its priority and the keys before it in its namespace account for", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 50 }), async (rivals, victims) => {
      const aging = 1000;
      const { clock, queue } = newQueue({ aging, fairness: 10 });
      for (let i = 0; i < victims; i++) queue.add(`victim/${i}`, { priority: "low" });
      let served = 0;
      // One key is served each millisecond, and a more urgent one arrives each millisecond.
      for (let now = 0; served < victims; now++) {
        assert.ok(now < aging * 2 + victims * 20, "a low key starves");
        queue.add(`rival-${now % rivals}/${now}`, { priority: "high" });
        const item = queue.take()!;
        if (item.key.startsWith("victim/")) served++;
        queue.done(item.key);
        await clock.advance(1);
      }
    }),
    { numRuns: 10 },
  );
});
