import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { commandStage } from "../../test/command-stage.ts";
import { noteRunning } from "../up/running-clusters.ts";
import { embeddedCommands } from "./embedded.ts";

/** Runs `konverge status`; returns what it printed and its exit code. */
async function status(t: TestContext, ...words: string[]) {
  const log = t.mock.method(console, "log", () => {});
  const error = t.mock.method(console, "error", () => {});
  const before = process.exitCode;
  try {
    await embeddedCommands()
      .find((one) => one.name() === "status")!
      .parseAsync(words, { from: "user" });
    const lines = (calls: typeof log.mock.calls) => calls.map(({ arguments: words }) => words.join(" "));
    return { output: lines(log.mock.calls).join("\n"), errors: lines(error.mock.calls), exitCode: process.exitCode };
  } finally {
    process.exitCode = before;
    log.mock.restore();
    error.mock.restore();
  }
}

test("a cluster without a usable kubeconfig is reported with what to do, beside the others", async (t) => {
  await using stage = await commandStage();
  const { folder, port } = stage;
  const homeBefore = process.env["KONVERGE_HOME"];
  process.env["KONVERGE_HOME"] = folder;
  t.after(() => {
    if (homeBefore === undefined) delete process.env["KONVERGE_HOME"];
    else process.env["KONVERGE_HOME"] = homeBefore;
  });
  const note = (name: string, file: string) => {
    noteRunning({ name, pid: process.pid, url: port.url, kubeconfig: join(folder, file), merged: false });
  };
  // The context has the name that the port was opened with.
  note("konverge", "kubeconfig");
  note("deleted", "no-such-file");
  mkdirSync(join(folder, "a-folder"));
  note("unreadable", "a-folder");
  writeFileSync(join(folder, "broken"), "clusters: [\n");
  note("broken", "broken");

  const text = await status(t);
  const url = port.url.replaceAll(".", "\\.");
  const rows = new RegExp(
    `^NAME .*\n${["broken", "deleted"].map((name) => `${name} +<unknown> +<unknown> +<unknown> +${process.pid} +${url}\n`).join("")}konverge +v1\\.\\S+ +\\d/\\d +0/0 +${process.pid} +${url}\nunreadable +<unknown> `,
  );
  assert.match(text.output, rows);
  assert.equal(text.exitCode, 1);
  assert.equal(text.errors.length, 3);
  const missing = join(folder, "no-such-file");
  assert.equal(
    text.errors[1],
    `konverge: cluster deleted: cannot read the kubeconfig ${missing}: there is no such file; restore ${missing}, or restart the cluster with konverge down --name deleted and konverge up --name deleted (konverge snapshot saves its state before)`,
  );
  assert.match(text.errors[0]!, /^konverge: cluster broken: .*broken.*; restore .*broken, or restart/s);
  assert.match(text.errors[2]!, /^konverge: cluster unreadable: cannot read the kubeconfig .*; restore /);

  const json = await status(t, "--output", "json");
  const found = JSON.parse(json.output) as { name: string; version?: string; error?: string }[];
  assert.deepEqual(
    found.map(({ name, version, error }) => [name, version !== undefined, error !== undefined]),
    [
      ["broken", false, true],
      ["deleted", false, true],
      ["konverge", true, false],
      ["unreadable", false, true],
    ],
  );
  assert.equal(json.exitCode, 1);

  const one = await status(t, "--name", "konverge");
  assert.deepEqual([one.errors, one.exitCode ?? 0], [[], 0]);
});
