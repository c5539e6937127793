import assert from "node:assert/strict";
import { test } from "node:test";
import { AdjustableClock } from "./adjustable-clock.ts";
import { realClock } from "./clock.ts";
import { cryptographicSecrets } from "./secrets.ts";
import { VirtualClock } from "./virtual-clock.ts";

const LENGTH = 24;

test("no seed repeats the secrets of the machine's clock, faster or not", () => {
  for (const make of [() => realClock(7), () => new AdjustableClock(realClock(7), 60)]) {
    const [one, two] = [make(), make()];
    assert.equal(one.random.uuid(), two.random.uuid());
    assert.notEqual(one.secrets.text(LENGTH), two.secrets.text(LENGTH));
    assert.equal(one.secrets, cryptographicSecrets);
  }
});

test("a virtual clock repeats its secrets with its seed", () => {
  const draw = (seed: number) => new VirtualClock({ seed }).secrets.text(LENGTH);
  assert.equal(draw(1), draw(1));
  assert.notEqual(draw(1), draw(2));
});

test("drawing a secret does not shift what is drawn in public, and the other way round", () => {
  const [one, two] = [new VirtualClock(), new VirtualClock()];
  one.secrets.text(LENGTH);
  assert.equal(one.random.uuid(), two.random.uuid());
  one.random.next();
  two.secrets.text(LENGTH);
  assert.equal(one.secrets.text(LENGTH), two.secrets.text(LENGTH));
});

test("each character of the alphabet is equally likely", () => {
  const counts = new Map<string, number>();
  for (const letter of cryptographicSecrets.text(30_000, "abc")) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  assert.deepEqual([...counts.keys()].sort(), ["a", "b", "c"]);
  // Six standard deviations are about 490.
  for (const count of counts.values()) assert.ok(Math.abs(count - 10_000) < 500, `${[...counts]}`);
});
