import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { thing } from "../../test/scripted-watch.ts";
import { EventCorrelator } from "./correlator.ts";

function correlator() {
  const clock = new VirtualClock();
  const events = new EventCorrelator(clock);
  const tell = (message: string, reason = "Reason", name = "a") =>
    events.correlate({ object: thing(name, 1), type: "Normal", reason, message });
  return { clock, tell };
}

test("the same thing again is the same event, with a count", () => {
  const { tell } = correlator();
  const first = tell("pulled");
  const second = tell("pulled");
  assert.equal(first, second);
  assert.equal(second?.count, 2);
  assert.notEqual(tell("pushed"), first);
  assert.notEqual(tell("pulled", "Other"), first);
  assert.notEqual(tell("pulled", "Reason", "b"), first);
});

test("after ten minutes it is a new event", async () => {
  const { clock, tell } = correlator();
  const first = tell("pulled");
  await clock.advance(11 * 60_000);
  assert.notEqual(tell("pulled"), first);
});

test("many different messages of one reason are put together", () => {
  const { tell } = correlator();
  for (let i = 0; i < 10; i++) tell(`attempt ${i}`);
  const eleventh = tell("attempt 10");
  const twelfth = tell("attempt 11");
  assert.equal(eleventh, twelfth);
  assert.equal(twelfth?.message, "(combined from similar events): attempt 11");
  assert.equal(twelfth.count, 2);
  assert.equal(tell("attempt 3")?.count, 2);
});

test("an object that never stops talking is cut short, others are not, and it may speak again later", async () => {
  const { clock, tell } = correlator();
  let told = 0;
  for (let i = 0; i < 100; i++) if (tell("again")) told++;
  assert.equal(told, 25);
  assert.ok(tell("hello", "Reason", "b"));
  await clock.advance(5 * 60_000);
  assert.ok(tell("again"));
  assert.equal(tell("again"), undefined);
});
