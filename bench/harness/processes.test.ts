import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { isRunnable } from "./processes.ts";

const skip = process.platform === "linux" ? false : "it reads /proc, which only Linux has";

test("a process that computes is runnable, one that waits is not", { skip }, async () => {
  const waits = spawn("sh", ["-c", "echo started; read line"], { stdio: ["pipe", "pipe", "ignore"] });
  await once(waits.stdout, "data");
  // The shell may still be about to read.
  while (isRunnable(waits.pid!)) await new Promise((resolve) => setImmediate(resolve));
  waits.kill("SIGKILL");
  assert.equal(isRunnable(process.pid), true);
});
