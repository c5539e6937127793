import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

const STEPS = new URL("./steps.ts", import.meta.url).href;

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  test(`a test file ends when the process that runs the step gets ${signal}`, { skip: notOn("win32") }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "konverge-steps-"));
    try {
      const [file, pid] = [join(folder, "endless.test.mjs"), join(folder, "pid")];
      writeFileSync(file, endlessTest(pid));
      const program = `import { runAll } from ${JSON.stringify(STEPS)}; await runAll(["proofs"], [${JSON.stringify(file)}]);`;
      // A runner inside a test file would otherwise report to that file's runner.
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const step = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: "ignore", env });
      await until("the file runs", () => existsSync(pid) && readFileSync(pid, "utf8") !== "");
      const running = Number(readFileSync(pid, "utf8"));
      step.kill(signal);
      await until("the file has ended", () => !isAlive(running));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

const endlessTest = (pid: string) => `
import { writeFileSync } from "node:fs";
import { test } from "node:test";
test("endless", async () => {
  writeFileSync(${JSON.stringify(pid)}, String(process.pid));
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
`;

function notOn(platform: NodeJS.Platform): string | false {
  return process.platform === platform ? "Windows keeps the number of a parent that is gone" : false;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(what: string, condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 2000) assert.fail(`it never came true that ${what}`);
    await wait(50);
  }
}
