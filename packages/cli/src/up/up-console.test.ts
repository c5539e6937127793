import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { type Client, connect } from "@konverge/client";
import { isNotFound } from "@konverge/core";
import { ConfigMap, Pod } from "@konverge/kinds";
import { until } from "../../test/command-stage.ts";
import { ConsoleVisit } from "../../test/console-visit.ts";
import { StartedCommand } from "../../test/started-command.ts";
import { startedCommand } from "../started-files.ts";

const LINK = /The console is at\s+(http:\/\/127\.0\.0\.1:\d+\/\?token=\w{40})\s/;

suite("konverge up --console", { skip: process.platform === "win32" && "no signals to end it with" }, () => {
  let folder: string;
  let kubeconfig: string;
  let cluster: StartedCommand;
  let client: Client;
  let link: string;
  let visit: ConsoleVisit;

  const konverge = (...words: string[]) =>
    new StartedCommand([...startedCommand("konverge"), ...words], { KONVERGE_HOME: folder });

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "konverge-up-console-"));
    kubeconfig = join(folder, "kubeconfig");
    cluster = konverge(
      "up",
      "--console",
      "--name",
      "shown",
      "--kubeconfig",
      kubeconfig,
      "--nodes",
      "1",
      "--gpus",
      "none",
    );
    [, link = ""] = await cluster.prints(LINK);
    client = await connect({ kubeconfig });
    visit = await ConsoleVisit.open(link);
  });

  after(async () => {
    await client?.close();
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const map = (text: string) => ({ metadata: { name: "kept", namespace: "default" }, data: { text } });
  const time = async () => {
    const { controls } = await visit.hello();
    assert.ok(controls && "speed" in controls.time);
    return controls.time;
  };

  test("without the token of the printed link, controls are refused", async () => {
    const url = new URL("/console/controls", link);
    const request = { method: "POST", body: JSON.stringify({ action: "snapshot" }) };
    assert.equal((await fetch(url, request)).status, 401);
    assert.equal((await fetch(`${url}?token=${"x".repeat(40)}`, request)).status, 401);
    assert.equal((await fetch(url, { ...request, headers: { cookie: "konverge=x" } })).status, 401);
    assert.deepEqual((await visit.hello()).controls?.snapshots, []);
  });

  test("the time passes faster and jumps", async () => {
    assert.equal((await time()).speed, 1);
    assert.deepEqual(await visit.control({ action: "speed", speed: 10 }), { status: 200 });
    assert.equal((await time()).speed, 10);
    assert.deepEqual(await visit.control({ action: "speed", speed: 1 }), { status: 200 });
    const { now } = await time();
    assert.deepEqual(await visit.control({ action: "jump", ms: 60_000 }), { status: 200 });
    await until("a minute has passed in the cluster", async () => (await time()).now >= now + 60_000);
    const made = await client.create(ConfigMap, { metadata: { name: "late", namespace: "default" } });
    assert.ok(Date.parse(made.metadata.creationTimestamp!) >= now + 59_000);
    const { status, message } = await visit.control({ action: "speed", speed: 1000 });
    assert.equal(status, 400);
    assert.match(message!, /at most 60 times as fast, not 1000 times/);
  });

  test("requests are delayed, and a pod's containers are killed", async () => {
    assert.deepEqual(await visit.control({ action: "delay requests", ms: 20 }), { status: 200 });
    assert.equal((await visit.hello()).controls?.requestDelay, 20);
    assert.deepEqual(await visit.control({ action: "delay requests", ms: 0 }), { status: 200 });
    const containers = [{ name: "main", image: "busybox" }];
    await client.create(Pod, { metadata: { name: "fragile", namespace: "default" }, spec: { containers } });
    const restarts = async () =>
      (await client.get(Pod, "default/fragile")).status?.containerStatuses?.[0]?.restartCount;
    await until("it runs", async () => (await client.get(Pod, "default/fragile")).status?.phase === "Running");
    assert.deepEqual(await visit.control({ action: "crash pod", pod: "default/fragile" }), { status: 200 });
    await until("it was restarted", async () => (await restarts()) === 1);
    const { status, message } = await visit.control({ action: "crash pod", pod: "default/absent" });
    assert.deepEqual({ status, message }, { status: 400, message: "no pod default/absent runs on a simulated node" });
  });

  test("a snapshot is restored, and forked to a cluster with its own console", async () => {
    assert.deepEqual(await visit.control({ action: "snapshot" }), { status: 200 });
    const { id } = (await visit.hello()).controls!.snapshots.at(-1)!;
    await client.create(ConfigMap, map("after"));
    assert.deepEqual(await visit.control({ action: "restore", id }), { status: 200 });
    await assert.rejects(client.get(ConfigMap, "default/kept"), isNotFound);
    await client.create(ConfigMap, map("later"));
    assert.deepEqual(await visit.control({ action: "fork", id }), { status: 200 });
    const [fork] = (await visit.hello()).controls!.forks;
    const forked = await ConsoleVisit.open(fork!.url);
    assert.equal((await forked.hello()).title, `shown, fork ${fork!.id}`);
    assert.equal((await fetch(new URL("/console/state", fork!.url))).status, 401);
    assert.deepEqual(await visit.control({ action: "stop fork", id: fork!.id }), { status: 200 });
    await assert.rejects(forked.hello());
    assert.deepEqual((await visit.hello()).controls!.forks, []);
  });

  test("a console in another process, as for a real cluster, and a read-only one have no controls", async () => {
    for (const [flags, status, message] of [
      [[], 404, /use the console in its process \(konverge up --console, /],
      [["--read-only"], 403, /the console is read-only/],
    ] as const) {
      const command = konverge("console", "--kubeconfig", kubeconfig, ...flags);
      try {
        const [, url = ""] = await command.prints(LINK);
        const elsewhere = await ConsoleVisit.open(url);
        assert.equal((await elsewhere.hello()).controls, undefined);
        const refused = await elsewhere.control({ action: "snapshot" });
        assert.equal(refused.status, status);
        assert.match(refused.message!, message);
      } finally {
        assert.equal(await command.stop(), 0);
      }
    }
  });
});
