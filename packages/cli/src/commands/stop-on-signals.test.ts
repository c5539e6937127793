import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";

const MODULE = new URL("./stop-on-signals.ts", import.meta.url).href;
const skip = process.platform === "win32" && "no signals";

/** A process that stops on signals, and removes what it made until it gets the message that this is done. */
async function started(unfinished: string): Promise<ChildProcess> {
  const program = `
    import { stopOnSignals } from ${JSON.stringify(MODULE)};
    let isRemoved = false;
    const stop = stopOnSignals(${unfinished});
    stop.addEventListener("abort", () => process.send("stopping"));
    process.on("message", (message) => {
      isRemoved = true;
      if (message === "end") process.exit(0);
      process.send("removed");
    });
    process.send("ready");`;
  const stdio: ["ignore", "ignore", "pipe", "ipc"] = ["ignore", "ignore", "pipe", "ipc"];
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio });
  child.stderr!.setEncoding("utf8");
  await once(child, "message");
  return child;
}

const UNFINISHED = '() => (isRemoved ? undefined : "still removing")';

test("a second signal ends a process at once", { skip }, async () => {
  const child = await started("");
  const ended = once(child, "exit");
  child.kill("SIGINT");
  assert.deepEqual(await once(child, "message"), ["stopping", undefined]);
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [130, null]);
});

test("a process that npx started through a shell ends when npx was killed", { skip }, async () => {
  const program = `
    import { stopWithNpm } from ${JSON.stringify(MODULE)};
    const alive = setInterval(() => {}, 1000);
    stopWithNpm({ npm_lifecycle_event: "npx" }).addEventListener("abort", () => clearInterval(alive));
    console.log("ready");`;
  const node = ["--input-type=module", "--eval", program];
  // A shell that has something left to do does not become what it starts.
  const npx = `
    import { spawn } from "node:child_process";
    const words = ["-c", '"$0" "$@"; true', process.execPath, ...${JSON.stringify(node)}];
    spawn("sh", words, { stdio: ["ignore", "inherit", "inherit"] });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", npx], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  // What npx started shares its output: it is closed when both have ended.
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
});

test("further signals do not end a process that would leave something behind: it says so", { skip }, async () => {
  const child = await started(UNFINISHED);
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await once(child, "message");
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGTERM"] as const) {
    const printed = once(child.stderr!, "data");
    child.kill(signal);
    assert.deepEqual(await printed, ["konverge: still removing\n"]);
  }
  child.send("end");
  assert.deepEqual(await ended, [0, null]);
});

test("when nothing is left to remove, a further signal ends the process at once again", { skip }, async () => {
  const child = await started(UNFINISHED);
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await once(child, "message");
  child.send("removed");
  await once(child, "message");
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [130, null]);
});
