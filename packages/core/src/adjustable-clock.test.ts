import assert from "node:assert/strict";
import { test } from "node:test";
import { AdjustableClock } from "./adjustable-clock.ts";
import { unscaled } from "./underlying-clock.ts";
import { VirtualClock } from "./virtual-clock.ts";

function start(speed?: number) {
  const machine = new VirtualClock();
  const clock = new AdjustableClock(machine, speed);
  const fired: string[] = [];
  const set = (name: string, ms: number) => clock.after(ms, () => fired.push(`${name} at ${clock.monotonic()}`));
  return { machine, clock, fired, set };
}

test("timers that are set already follow a change of the speed", async () => {
  const { machine, clock, fired, set } = start();
  set("a", 10_000);
  await machine.advance(4_000);
  assert.equal(clock.monotonic(), 4_000);
  clock.speed = 10;
  await machine.advance(599);
  assert.deepEqual(fired, []);
  await machine.advance(1);
  assert.deepEqual(fired, ["a at 10000"]);
  assert.equal(clock.now() - machine.now(), 10_000 - 4_600);
});

test("the time of day is in whole milliseconds at every speed, as that of the machine", async () => {
  const { machine, clock } = start(1.5);
  await machine.advance(1);
  assert.equal(clock.monotonic(), 1.5);
  assert.equal(clock.now() - machine.now(), 0);
});

test("with speed 0 the time stands still, and what is due at once or is posted still happens", async () => {
  const { machine, clock, fired, set } = start();
  clock.speed = 0;
  set("later", 1);
  set("now", 0);
  clock.post(() => fired.push("posted"));
  await machine.advance(3_600_000);
  assert.deepEqual(fired, ["now at 0", "posted"]);
  clock.speed = 1;
  await machine.advance(1);
  assert.deepEqual(fired.at(-1), "later at 1");
});

test("a jump runs everything that is due in between, in order, also what is set on the way", async () => {
  const { machine, clock, fired, set } = start(0);
  let changes = 0;
  clock.changed = () => changes++;
  const everyMinute = () => {
    fired.push(`minute ${Math.round(clock.monotonic() / 60_000)}`);
    clock.after(60_000, everyMinute);
  };
  clock.after(60_000, everyMinute);
  set("last", 150_000).cancel();
  clock.jump(100_000);
  clock.jump(100_000);
  assert.equal(clock.jumpsTo, clock.now() + 200_000);
  await machine.advance(10_000);
  assert.deepEqual(fired, ["minute 1", "minute 2", "minute 3"]);
  assert.deepEqual([clock.monotonic(), clock.jumpsTo, changes], [200_000, undefined, 3]);
});

test("a speed below 0 and a jump back are rejected", () => {
  const { clock } = start();
  assert.throws(() => {
    clock.speed = -1;
  }, /a speed is a number from 0 on, not -1/);
  assert.throws(() => clock.jump(-1), /a jump is a number of milliseconds above 0, not -1/);
});

test("the machine's clock is known beneath it", () => {
  const { machine, clock } = start();
  assert.equal(unscaled(clock), machine);
});
