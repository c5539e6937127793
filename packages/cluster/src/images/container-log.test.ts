import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@konverge/core";
import { ContainerLog, LogSpace } from "./container-log.ts";

const MEBIBYTE = 1024 * 1024;

const sizeOf = (log: ContainerLog) => log.lines.reduce((size, { text }) => size + text.length, 0);

test("a full log is rotated, and its lines keep their numbers", () => {
  const log = new ContainerLog(new VirtualClock(), new LogSpace());
  const line = `${"x".repeat(1000)}\n`;
  for (let count = 0; count < 25_000; count++) log.write(line);
  assert.equal(log.end, 25_000);
  assert.ok(log.start > 10_000 && log.start === log.end - log.lines.length);
  assert.ok(sizeOf(log) <= 10 * MEBIBYTE);
  assert.equal(log.from(log.end - 1).length, 1);
});

test("empty lines count too", () => {
  const log = new ContainerLog(new VirtualClock(), new LogSpace());
  for (let count = 0; count < 1000; count++) log.write("\n".repeat(1000));
  assert.ok(log.lines.length < 300_000, `${log.lines.length} lines`);
});

test("a line without an end is split", () => {
  const log = new ContainerLog(new VirtualClock(), new LogSpace());
  for (let count = 0; count < 1000; count++) log.write("x".repeat(100_000));
  assert.ok(log.lines.every(({ partial }) => partial));
  assert.ok(sizeOf(log) <= 10 * MEBIBYTE);
  log.write("end\nnext\n");
  assert.deepEqual(
    log.lines.slice(-2).map(({ text, partial }) => [text.slice(-3), partial]),
    [
      ["end", undefined],
      ["ext", undefined],
    ],
  );
});

test("the logs of a cluster share a limit: over it the log that grows is rotated, and the others stay", () => {
  const [clock, space] = [new VirtualClock(), new LogSpace()];
  const first = new ContainerLog(clock, space);
  first.write("mine\n");
  const others = Array.from({ length: 30 }, () => new ContainerLog(clock, space));
  const line = `${"x".repeat(10_000)}\n`;
  for (const log of others) for (let count = 0; count < 900; count++) log.write(line);
  const total = others.reduce((size, log) => size + sizeOf(log), 0);
  assert.ok(total <= 130 * MEBIBYTE, `${total} bytes`);
  assert.equal(first.lines.length, 1);
  for (const log of others) log.release();
  first.write("more\n");
  assert.equal(first.lines.length, 2);
});
