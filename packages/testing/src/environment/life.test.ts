import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { Life } from "./life.ts";

const request = { method: "GET", path: "/", headers: {} };

test("what is pending when a process dies never settles", async () => {
  const clock = new VirtualClock();
  const life = new Life();
  const answer = Promise.withResolvers<{ status: number; headers: object; body: string }>();
  let response = "nothing";
  life
    .transport(() => answer.promise as never)(request)
    .then(
      () => {
        response = "an answer";
      },
      () => {
        response = "an error";
      },
    );
  life.end();
  answer.resolve({ status: 200, headers: {}, body: "" });
  await clock.advance(1);
  assert.equal(response, "nothing");
});

test("a dead process's timers and turns do not run, and leave nothing behind", async () => {
  const machine = new VirtualClock();
  const life = new Life();
  const clock = life.clock(machine);
  const seen: string[] = [];
  clock.after(10, () => seen.push("early"));
  clock.after(20, () => seen.push("late"));
  await machine.advance(15);
  clock.post(() => seen.push("turn"));
  life.end();
  await machine.advance(100);
  assert.deepEqual(seen, ["early"]);
  clock.after(1, () => seen.push("afterwards"));
  assert.deepEqual(machine.pending(), []);
});

test("a stream that a dead process reads says nothing more", async () => {
  const clock = new VirtualClock();
  const life = new Life();
  const second = Promise.withResolvers<void>();
  async function* lines() {
    yield "one";
    await second.promise;
    yield "two";
  }
  const { body } = await life.transport(async () => ({ status: 200, headers: {}, body: lines() }))(request);
  const seen: string[] = [];
  void (async () => {
    for await (const line of body as AsyncIterable<string>) seen.push(line);
    seen.push("end");
  })();
  await clock.advance(1);
  life.end();
  second.resolve();
  await clock.advance(1);
  assert.deepEqual(seen, ["one"]);
});
