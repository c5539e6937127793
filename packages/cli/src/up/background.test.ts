import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { AdjustableClock } from "@konverge/cluster";
import { realClock } from "@konverge/core";
import { down } from "./background.ts";
import { notedCluster, noteRunning } from "./running-clusters.ts";

let folder: string;
const homeBefore = process.env["KONVERGE_HOME"];
before(() => {
  folder = mkdtempSync(join(tmpdir(), "konverge-down-"));
  process.env["KONVERGE_HOME"] = folder;
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
  if (homeBefore === undefined) delete process.env["KONVERGE_HOME"];
  else process.env["KONVERGE_HOME"] = homeBefore;
});

/** A process that listens on a port as a cluster does, and does as it is told when it is asked to end. */
async function cluster(name: string, asked: string, isStuck = false): Promise<ChildProcess> {
  const program = `
    process.on("SIGTERM", () => { ${asked} });
    const server = require("node:net").createServer().listen(0, "127.0.0.1", () => {
      process.send(server.address().port, () => { while (${isStuck}); });
    });`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const [port] = (await once(child, "message")) as [number];
  const kubeconfig = join(folder, "kubeconfig");
  noteRunning({ name, pid: child.pid!, url: `https://127.0.0.1:${port}`, kubeconfig, merged: false });
  return child;
}

const skip = process.platform === "win32" && "no signals to ignore";

test("a cluster that ends when it is asked to has ended, and leaves no traces", { skip }, async () => {
  const child = await cluster("willing", "process.exit(0)");
  const gone = once(child, "exit");
  assert.equal(await down("willing", realClock()), "ended");
  assert.deepEqual(await gone, [0, null]);
  assert.equal(notedCluster("willing"), undefined);
  assert.equal(await down("willing", realClock()), undefined);
});

test("a cluster that is stuck, or does not want to end, is killed after a while, and that is said", {
  skip,
}, async () => {
  for (const [asked, isStuck] of [
    ["process.exit(0)", true],
    ["", false],
  ] as const) {
    const child = await cluster("stuck", asked, isStuck);
    const gone = once(child, "exit");
    // Ten seconds pass in half of one.
    assert.equal(await down("stuck", new AdjustableClock(realClock(), 20)), "killed");
    assert.deepEqual(await gone, [null, "SIGKILL"]);
    assert.equal(notedCluster("stuck"), undefined);
  }
});
