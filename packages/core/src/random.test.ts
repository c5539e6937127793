import assert from "node:assert/strict";
import { test } from "node:test";
import { nameSuffix, seededRandom } from "./random.ts";

const draw = (seed: number, count = 50) => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => random.next());
};

test("a seed gives the same stream again, another seed another", () => {
  assert.deepEqual(draw(42), draw(42));
  for (const [a, b] of [
    [1, 2],
    [0, 2 ** 32],
    [1, 2 ** 40 + 1],
  ] as const) {
    const others = new Set(draw(b));
    assert.ok(draw(a).every((value) => !others.has(value)));
  }
});

test("numbers are spread evenly over their range", () => {
  const random = seededRandom(7);
  const counts = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) counts[random.below(10)]!++;
  for (const count of counts) assert.ok(count > 850 && count < 1150, `${counts}`);
  for (let i = 0; i < 1000; i++) {
    const value = random.next();
    assert.ok(value >= 0 && value < 1);
  }
});

test("a pick is one of the items, and each is picked in time", () => {
  const random = seededRandom(1);
  const picked = new Set(Array.from({ length: 100 }, () => random.pick(["a", "b", "c"])));
  assert.deepEqual([...picked].sort(), ["a", "b", "c"]);
  assert.throws(() => random.pick([]), RangeError);
});

test("UUIDs are of version 4 and differ", () => {
  const random = seededRandom(1);
  const uuids = Array.from({ length: 1000 }, () => random.uuid());
  for (const uuid of uuids) {
    assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  }
  assert.equal(new Set(uuids).size, 1000);
});

test("a fork is an independent stream: it does not affect its parent", () => {
  const [one, two] = [seededRandom(5), seededRandom(5)];
  const fork = one.fork();
  two.fork();
  for (let i = 0; i < 10; i++) fork.next();
  assert.equal(one.next(), two.next());
  assert.notEqual(seededRandom(5).fork().next(), seededRandom(5).next());
});

test("the suffix of a generated name has five letters that spell nothing", () => {
  const random = seededRandom(3);
  for (let i = 0; i < 100; i++) assert.match(nameSuffix(random), /^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});
