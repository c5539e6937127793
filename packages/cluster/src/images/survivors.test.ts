import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const skip = process.platform === "win32";

test("a program does not outlive the process that runs it, even if that is killed", {
  skip,
  timeout: 60_000,
}, async () => {
  const script = fileURLToPath(new URL("../../test/survivors.child.ts", import.meta.url));
  const runner = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface(runner.stdout);
  assert.deepEqual(await once(lines, "line"), ["started"]);
  // The program holds the runner's output open: it closes when both have ended.
  const over = once(lines, "close");
  runner.kill("SIGKILL");
  await over;
});
