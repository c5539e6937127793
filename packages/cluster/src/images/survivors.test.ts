import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { realClock, sleep } from "@konverge/core";

const skip = process.platform === "win32";

test("a program does not outlive the process that runs it, even if that is killed", { skip }, async () => {
  const script = fileURLToPath(new URL("./survivors.child.ts", import.meta.url));
  const runner = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface(runner.stdout), "line")) as [string];
  const grandchild = Number(line);
  assert.ok(isAlive(grandchild));
  runner.kill("SIGKILL");
  const clock = realClock();
  for (const end = clock.monotonic() + 60_000; isAlive(grandchild); ) {
    assert.ok(clock.monotonic() < end, "it is still there a minute later");
    await sleep(clock, 50);
  }
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
