import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

test("a process that only waits for a lease does not end", async () => {
  const heartbeat = pathToFileURL(`${import.meta.dirname}/heartbeat.ts`).href;
  const program = `
    import { realClock } from "@konverge/core";
    import { Heartbeat } from ${JSON.stringify(heartbeat)};
    let beats = 0;
    const waiting = new Heartbeat(realClock(), {
      every: 20,
      label: "a lease",
      async beat() {
        if (++beats === 3) {
          console.log("three beats");
          void waiting.stop();
        }
      },
    });
    await waiting.start();
  `;
  const args = ["--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  assert.equal(stdout, "three beats\n");
});
