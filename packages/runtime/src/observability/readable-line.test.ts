import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { readableLine } from "./readable-line.ts";

const time = "2026-01-02T03:04:05.678Z";

test("a line shows the time, the level, the message and the other fields", () => {
  const line = {
    level: "info",
    time,
    operator: "web",
    object: "default/w",
    triggers: ["object Web default/w"],
    msg: "reconcile done",
  };
  assert.equal(
    readableLine(JSON.stringify(line), false),
    '03:04:05.678 INFO  reconcile done operator=web object=default/w triggers="object Web default/w"\n',
  );
});

test("empty lists are left out, objects are shown as JSON, and line breaks do not break the line", () => {
  const line = { level: "warn", time, reads: [], at: { a: 1 }, msg: "one\ntwo" };
  assert.equal(readableLine(JSON.stringify(line), false), '03:04:05.678 WARN  one\\ntwo at="{\\"a\\":1}"\n');
});

test("the message of an error is shown once, and its stack only at level error", () => {
  const err = { type: "Error", message: "no quota", stack: "Error: no quota\n    at place (file.ts:1:2)" };
  const shown = (level: string, msg: string) => readableLine(JSON.stringify({ level, time, err, msg }), false);
  assert.equal(
    shown("warn", "the lease could not be renewed"),
    '03:04:05.678 WARN  the lease could not be renewed err="no quota"\n',
  );
  assert.equal(shown("error", "no quota"), "03:04:05.678 ERROR no quota\n  at place (file.ts:1:2)\n");
});

test("colors change nothing but the looks", () => {
  const json = JSON.stringify({ level: "error", time, object: "default/w", msg: "failed" });
  const colored = readableLine(json, true);
  assert.notEqual(colored, readableLine(json, false));
  assert.equal(stripVTControlCharacters(colored), readableLine(json, false));
});
