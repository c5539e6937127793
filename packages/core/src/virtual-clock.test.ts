import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sleep } from "./clock.ts";
import { VirtualClock } from "./virtual-clock.ts";

test("time passes only when it is advanced, and timers fire exactly on time", async () => {
  const clock = new VirtualClock();
  const fired: [string, number][] = [];
  clock.after(1000, () => fired.push(["b", clock.monotonic()]));
  clock.after(500, () => fired.push(["a", clock.monotonic()]));
  clock.after(86_400_000, () => fired.push(["a day", clock.monotonic()]));
  await clock.advance(999);
  assert.deepEqual(fired, [["a", 500]]);
  assert.equal(clock.monotonic(), 999);
  await clock.advance(86_400_000);
  assert.deepEqual(fired.slice(1), [
    ["b", 1000],
    ["a day", 86_400_000],
  ]);
  assert.equal(clock.now(), Date.UTC(2026, 0, 1) + 86_400_999);
});

test("a step runs one entry and all promises that it wakes", async () => {
  const clock = new VirtualClock();
  const observed: string[] = [];
  const run = async () => {
    await sleep(clock, 10);
    observed.push("woken");
    for (let i = 0; i < 20; i++) await Promise.resolve();
    observed.push("at its next wait");
    await sleep(clock, 10);
    observed.push("woken again");
  };
  void run();
  assert.equal(await clock.step(), true);
  assert.deepEqual(observed, ["woken", "at its next wait"]);
  assert.equal(await clock.step(15), false, "nothing is due by then");
  assert.equal(clock.monotonic(), 10);
  assert.equal(await clock.step(20), true);
  assert.deepEqual(observed.at(-1), "woken again");
  assert.equal(await clock.step(), false);
});

test("a cancelled timer does not fire, and cancelling late or twice does no harm", async () => {
  const clock = new VirtualClock();
  let fired = 0;
  const first = clock.after(1, () => fired++);
  const second = clock.after(2, () => fired++);
  first.cancel();
  first.cancel();
  await clock.advance(5);
  second.cancel();
  assert.equal(fired, 1);
  assert.equal(await clock.step(), false);
});

test("hundreds of cancelled time-outs do not disturb the others", async () => {
  const clock = new VirtualClock();
  const fired: number[] = [];
  for (let i = 0; i < 500; i++) {
    clock.after(1_000_000, () => assert.fail("was cancelled")).cancel();
    if (i % 100 === 0) clock.after(500 - i, () => fired.push(500 - i));
  }
  assert.equal(clock.pending().length, 5);
  await clock.advance(1000);
  assert.deepEqual(fired, [100, 200, 300, 400, 500]);
  await clock.advance(2_000_000);
});

test("a negative delay is none, an infinite one never ends", async () => {
  const clock = new VirtualClock();
  let fired = 0;
  clock.after(-5, () => fired++);
  clock.after(Number.NaN, () => fired++);
  const never = clock.after(Number.POSITIVE_INFINITY, () => fired++);
  while (await clock.step());
  assert.equal(fired, 2);
  assert.equal(clock.monotonic(), 0);
  never.cancel();
});

test("what waits can be named, background apart", async () => {
  const clock = new VirtualClock({ shuffle: true });
  clock.after(50, () => {}, { label: "lease", background: true });
  clock.after(70, () => {}, { label: "back-off" });
  clock.post(() => {}, "watch pods");
  clock.post(() => {}, "watch pods");
  assert.deepEqual(clock.pending(), [
    { label: "watch pods", due: 0, background: false },
    { label: "watch pods", due: 0, background: false },
    { label: "lease", due: 50, background: true },
    { label: "back-off", due: 70, background: false },
  ]);
  assert.deepEqual(clock.nextForeground(), { due: 0, label: "watch pods" });
  await clock.advance(0);
  assert.deepEqual(clock.nextForeground(), { due: 70, label: "back-off" });
  await clock.advance(70);
  assert.equal(clock.nextForeground(), undefined);
});

test("an error of a task reaches the caller that advances the clock", async () => {
  const clock = new VirtualClock();
  clock.post(() => {
    throw new Error("broken");
  });
  await assert.rejects(clock.step(), /broken/);
});

interface Plan {
  kind: "post" | "after";
  label: string;
  ms: number;
  then: Plan[];
}

/** Work that makes more work: turns of a few streams, and timers. */
const plan: fc.Arbitrary<Plan> = fc.letrec<{ plan: Plan }>((tie) => ({
  plan: fc.record({
    kind: fc.constantFrom("post" as const, "after" as const),
    label: fc.constantFrom("x", "y", "z"),
    ms: fc.nat({ max: 3 }),
    then: fc.oneof({ maxDepth: 4 }, fc.constant<Plan[]>([]), fc.array(tie("plan"), { maxLength: 3 })),
  }),
})).plan;

interface Run {
  id: number;
  cause: number;
  label: string;
  isTurn: boolean;
  /** Place in the order of making. */
  made: number;
  due: number;
  at: number;
}

async function runAll(plans: Plan[], options: { seed?: number; shuffle?: boolean }): Promise<Run[]> {
  const clock = new VirtualClock(options);
  const runs: Run[] = [];
  let made = 0;
  const start = ({ kind, label, ms, then }: Plan, cause: number) => {
    const id = made++;
    const isTurn = kind === "post";
    const due = clock.monotonic() + (isTurn ? 0 : ms);
    const task = () => {
      runs.push({ id, cause, label, isTurn, made: id, due, at: clock.monotonic() });
      for (const next of then) start(next, id);
    };
    if (isTurn) clock.post(task, label);
    else clock.after(ms, task, { label });
  };
  for (const each of plans) start(each, -1);
  while (await clock.step());
  assert.equal(runs.length, made, "everything runs, once");
  return runs;
}

test("everything runs once, on time, after its cause; first come, first served", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { maxLength: 5 }), async (plans) => {
      const runs = await runAll(plans, {});
      for (const [i, run] of runs.entries()) {
        assert.equal(run.at, run.due);
        const previous = runs[i - 1];
        assert.ok(!previous || previous.due < run.due || (previous.due === run.due && previous.made < run.made));
      }
    }),
  );
});

test("shuffled, causes still come first and turns with the same label keep their order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { maxLength: 5 }), fc.nat(), async (plans, seed) => {
      const runs = await runAll(plans, { seed, shuffle: true });
      const done = new Set([-1]);
      const lastTurn = new Map<string, number>();
      for (const run of runs) {
        assert.equal(run.at, run.due);
        assert.ok(done.has(run.cause));
        done.add(run.id);
        if (!run.isTurn) continue;
        assert.ok((lastTurn.get(run.label) ?? -1) < run.made);
        lastTurn.set(run.label, run.made);
      }
      assert.deepEqual(await runAll(plans, { seed, shuffle: true }), runs, "the same seed gives the same run");
    }),
  );
});

test("shuffled, every order of independent turns happens under some seed", async () => {
  const orders = new Set<string>();
  for (let seed = 0; seed < 60; seed++) {
    const clock = new VirtualClock({ seed, shuffle: true });
    let order = "";
    for (const label of ["a", "b", "c"]) clock.post(() => (order += label), label);
    while (await clock.step());
    orders.add(order);
  }
  assert.equal(orders.size, 6);
});

test("shuffling does not change what others draw by chance", () => {
  const draws = (shuffle: boolean) => {
    const clock = new VirtualClock({ seed: 7, shuffle });
    clock.post(() => {});
    return [clock.random.next(), clock.random.uuid()];
  };
  assert.deepEqual(draws(true), draws(false));
});
