import assert from "node:assert/strict";
import { test } from "node:test";
import { TokenBucket } from "./token-bucket.ts";
import { VirtualClock } from "./virtual-clock.ts";

test("a burst goes at once, then as many as the rate allows; a pause fills the bucket up to the burst", async () => {
  const clock = new VirtualClock();
  const bucket = new TokenBucket(clock, { perSecond: 10, burst: 2 });
  assert.deepEqual([bucket.take(), bucket.take(), bucket.take(), bucket.take()], [0, 0, 100, 100]);
  await clock.advance(100);
  assert.deepEqual([bucket.take(), bucket.take()], [0, 100]);
  await clock.advance(60_000);
  assert.deepEqual([bucket.take(), bucket.take(), bucket.take()], [0, 0, 100]);
});

test("tokens can be reserved before they are there, each an interval after the other", () => {
  const bucket = new TokenBucket(new VirtualClock(), { perSecond: 4, burst: 1 });
  assert.deepEqual([bucket.reserve(), bucket.reserve(), bucket.reserve()], [0, 250, 500]);
  assert.equal(bucket.take(), 750);
});

test("a bucket always holds one token, however low the rate", () => {
  const bucket = new TokenBucket(new VirtualClock(), { perSecond: 0.1 });
  assert.deepEqual([bucket.take(), bucket.take()], [0, 10_000]);
});
