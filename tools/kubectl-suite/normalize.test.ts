import assert from "node:assert/strict";
import { test } from "node:test";
import { normalize } from "./normalize.ts";
import { words } from "./story.ts";

const printed = (stdout: string) => normalize({ code: 0, stdout, stderr: "" });

test("two runs of the same commands look alike", () => {
  const first = "NAME                   READY   AGE\nweb-5d59d67564-x7k2p   1/1     1m5s\n";
  const second = "NAME                  READY   AGE\nweb-7b9d6c8f4-lqzx8   1/1     9s\n";
  assert.equal(printed(first), printed(second));
});

test("what a server decides is kept", () => {
  assert.notEqual(printed("web-front   1/1   5s"), printed("web-front   0/1   5s"));
  assert.notEqual(printed("web-front"), printed("web-back"));
  assert.notEqual(printed("  a: 1"), printed("    a: 1"));
  assert.notEqual(
    normalize({ code: 1, stdout: "", stderr: "not found" }),
    normalize({ code: 1, stdout: "", stderr: "forbidden" }),
  );
  assert.notEqual(normalize({ code: 0, stdout: "", stderr: "" }), normalize({ code: 1, stdout: "", stderr: "" }));
});

test("lines are sorted only where their order means nothing", () => {
  const output = { code: 0, stdout: "b\na\n", stderr: "" };
  assert.notEqual(normalize(output), normalize({ ...output, stdout: "a\nb\n" }));
  assert.equal(normalize(output, { unordered: true }), normalize({ ...output, stdout: "a\nb\n" }, { unordered: true }));
});

test("a command line is split as a shell splits it", () => {
  assert.deepEqual(words(`patch pod a -p '{"a": "b c"}' --x="y z" -o jsonpath='{.a}'`), [
    "patch",
    "pod",
    "a",
    "-p",
    '{"a": "b c"}',
    "--x=y z",
    "-o",
    "jsonpath={.a}",
  ]);
});
