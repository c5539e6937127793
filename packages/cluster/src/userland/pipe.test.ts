import assert from "node:assert/strict";
import { test } from "node:test";
import { ContainerMemory, MemoryPool } from "./limits/memory.ts";
import { BrokenPipe, Pipe } from "./pipe.ts";

const memory = () => new ContainerMemory(new MemoryPool(), () => {});

test("a writer waits until there is room", async () => {
  const held = memory();
  const pipe = new Pipe(held.open());
  const reader = pipe.read();
  let count = 0;
  const writing = (async () => {
    for (; count < 100; count++) await pipe.write(new Uint8Array(10_000));
    pipe.end();
  })();
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(count < 10, `${count} pieces of 10 kB`);
  assert.ok(held.used < 80_000, `${held.used} bytes`);
  let size = 0;
  for await (const piece of reader) size += piece.length;
  await writing;
  assert.equal(size, 1_000_000);
  assert.equal(held.used, 0);
});

test("a writer that does not wait is stopped by its memory limit", () => {
  const held = memory();
  held.limit = 1024 * 1024;
  const pipe = new Pipe(held.open());
  assert.throws(() => {
    for (;;) void pipe.write("0123456789");
  }, /out of memory/);
});

test("when the reader has exited, a waiting writer continues and the next write fails", async () => {
  const pipe = new Pipe(memory().open());
  const waiting = pipe.write(new Uint8Array(100_000));
  pipe.leave();
  await waiting;
  assert.throws(() => pipe.write("x"), BrokenPipe);
});
