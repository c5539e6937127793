import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ConsoleVisit } from "../../test/console-visit.ts";
import { StartedCommand } from "../../test/started-command.ts";

const skip = process.platform === "win32" && "no signals to end it with";
const RUN = fileURLToPath(new URL("../../../../scripts/run.mjs", import.meta.url));

test("npm start prints a link, whose controls kill an operator, and keep and fork the state of the cluster", {
  skip,
}, async () => {
  const command = new StartedCommand([
    ...[process.execPath, RUN, "packages/cli/src/demo.ts"],
    ...["--operators", "training-operator"],
  ]);
  try {
    const [, link = ""] = await command.prints(
      /See it in the browser:\s+(http:\/\/127\.0\.0\.1:\d+\/\?token=\w{40})\s/,
    );
    const request = { method: "POST", body: JSON.stringify({ action: "snapshot" }) };
    assert.equal((await fetch(new URL("/console/controls", link), request)).status, 401);
    const visit = await ConsoleVisit.open(link);
    const unavailable = "its operators run in separate processes with their own clocks";
    assert.deepEqual((await visit.hello()).controls?.time, { unavailable });
    assert.deepEqual(await visit.control({ action: "speed", speed: 10 }), { status: 400, message: unavailable });
    assert.deepEqual(await visit.control({ action: "jump", ms: 1000 }), { status: 400, message: unavailable });
    const [, pod = ""] = await command.prints(/(training-operator-\S+) leads/);
    assert.deepEqual(await visit.control({ action: "snapshot" }), { status: 200 });
    const { id } = (await visit.hello()).controls!.snapshots[0]!;
    assert.deepEqual(await visit.control({ action: "crash pod", pod: `default/${pod}` }), { status: 200 });
    assert.deepEqual(await visit.control({ action: "fork", id }), { status: 200 });
    const [fork] = (await visit.hello()).controls!.forks;
    assert.match((await (await ConsoleVisit.open(fork!.url)).hello()).title, /^konverge-demo, fork/);
    assert.deepEqual(await visit.control({ action: "stop fork", id: fork!.id }), { status: 200 });
  } finally {
    assert.equal(await command.stop(), 0);
  }
});
