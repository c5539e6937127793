import assert from "node:assert/strict";
import { controller, type Recurrence } from "@konverge/runtime";
import { virtual } from "./scenario.ts";
import { type Stage, Widget } from "./stage.ts";

/** A controller that records when something was due, in seconds. */
async function beats(s: Stage, rhythm: Recurrence, trouble?: (beat: number) => void): Promise<number[]> {
  const times: number[] = [];
  const start = s.clock.monotonic();
  await s.run(
    controller(Widget, {
      name: "beats",
      backoff: { initial: 2_000, longest: 2_000 },
      reconcile(_widget, { isDue, clock }) {
        if (!isDue("beat", rhythm)) return {};
        trouble?.(times.length);
        times.push(Math.round((clock.monotonic() - start) / 1000));
        return {};
      },
    }),
  );
  return times;
}

virtual("something is due at once and then at intervals, whatever else causes a reconcile", async (s) => {
  const times = await beats(s, { every: 60_000 });
  await s.widget("w");
  await s.clock.advance(90_000);
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "x" } } });
  await s.clock.advance(100_000);
  assert.deepEqual(times, [0, 60, 120, 180]);
});

virtual("the first time can be deferred", async (s) => {
  const times = await beats(s, { every: 60_000, first: 10_000 });
  await s.widget("w");
  await s.clock.advance(80_000);
  assert.deepEqual(times, [10, 70]);
});

virtual("work that waits for an idle object waits until it has not changed for a while", async (s) => {
  const times = await beats(s, { every: 10_000, idle: 30_000 });
  await s.widget("w");
  for (let i = 0; i < 4; i++) {
    await s.clock.advance(20_000);
    await s.user.patch(Widget, "default/w", { merge: { spec: { text: String(i) } } });
  }
  await s.clock.advance(45_000);
  assert.deepEqual(times, [110, 120]);
});

virtual("what failed was not done, and is due again", async (s) => {
  const times = await beats(s, { every: 60_000 }, () => {
    if (s.clock.monotonic() < 5_000) throw new Error("not yet");
  });
  await s.widget("w");
  await s.clock.advance(70_000);
  assert.equal(times.length, 2);
  assert.ok(times[0]! >= 5 && times[0]! <= 8);
});

virtual("a time that is kept in the status outlives a restart", async (s) => {
  const make = (times: number[]) =>
    controller(Widget, {
      name: "kept",
      reconcile({ status }, { isDue, clock }) {
        if (!isDue("beat", { every: 60_000, last: status?.text })) return {};
        times.push(Math.round(clock.monotonic() / 1000));
        return { status: { text: new Date(clock.now()).toISOString() } };
      },
    });
  const [before, after]: number[][] = [[], []];
  const first = await s.run(make(before!));
  await s.widget("w");
  await s.clock.advance(70_000);
  await s.during(first.stop());
  await s.run(make(after!));
  await s.clock.advance(70_000);
  assert.deepEqual([...before!, ...after!], [0, 60, 120]);
});
