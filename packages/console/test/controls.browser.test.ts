import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { type Cluster, type ClusterPort, plainNodes, startCluster } from "@konverge/cluster";
import { AdjustableClock, realClock } from "@konverge/core";
import { ConfigMap, Node, Pod } from "@konverge/kinds";
import { type Console, startConsole } from "../src/console.ts";
import { noChromium, TestBrowser } from "./chromium.ts";

suite("controls of an embedded cluster, in Chromium", { skip: noChromium }, () => {
  let clock: AdjustableClock;
  let cluster: Cluster;
  let port: ClusterPort;
  let served: Console;

  before(async () => {
    clock = new AdjustableClock(realClock());
    cluster = await startCluster({ clock, nodes: plainNodes(2) });
    port = await cluster.listen();
    served = await startConsole({ client: cluster.client, title: "test", embedded: { cluster, time: clock } });
  });

  after(async () => {
    await served.close();
    await cluster.stop();
    await port.close();
  });

  const podOn = (name: string, labels: Record<string, string> = {}) =>
    cluster.client.create(Pod, {
      metadata: { name, namespace: "default", labels },
      spec: { containers: [{ name: "main", image: "busybox", command: ["sleep", "36000"] }] },
    });

  test("the time is paused, runs faster, and jumps; a node that is lost loses its pods when the time for that has passed", async () => {
    const { metadata } = await podOn("lost");
    await using browser = await TestBrowser.open(served.url);
    await browser.click("nav a", /Controls/);
    await browser.click(".speeds button", /Pause/);
    await browser.sees(".speeds button[aria-pressed=true]", /Pause/);
    const paused = clock.now();
    await browser.click(".speeds button", /^10×/);
    await browser.sees(".speeds button[aria-pressed=true]", /10×/);
    assert.ok(clock.now() > paused);
    await browser.go(`/object?id=${metadata.uid}`);
    await browser.sees(".state-line", /Ready/);
    const { spec } = await cluster.client.get(Pod, "default/lost");
    await browser.go("/controls");
    await browser.page.evaluate((name) => {
      const rows = [...document.querySelectorAll(".rows li")];
      rows
        .find((one) => one.innerText.includes(name))
        ?.querySelector("button")
        ?.click();
    }, spec!.nodeName!);
    await browser.sees(".rows button", /Bring node back/);
    await browser.click(".jumps button", /5 minutes/);
    await browser.sees(".note", /Jumping to/);
    await browser.click(".jumps button", /5 minutes/);
    await browser.sees(".note", /It is/);
    await browser.go(`/timeline?search=lost`);
    await browser.sees(".entry", /Pod default\/lost TaintManagerEviction/);
    const node = await cluster.client.get(Node, spec!.nodeName!);
    await browser.go(`/object?id=${node.metadata.uid}`);
    await browser.click("[data-action=kubelet]", /Bring node back/);
    await browser.sees(".state-line", /Ready/);
    assert.deepEqual(browser.problems, []);
  });

  test("an operator is killed, and the timeline shows by whom and that its container starts again", async () => {
    const operator = { "app.kubernetes.io/managed-by": "konverge", "app.kubernetes.io/name": "web-operator" };
    const { metadata } = await podOn("web-operator", operator);
    await using browser = await TestBrowser.open(served.url);
    await browser.go(`/object?id=${metadata.uid}`);
    await browser.sees(".state-line", /Ready/);
    await browser.go("/controls");
    await browser.click(".rows li button", /^Kill$/);
    await browser.go("/timeline");
    await browser.sees(".entry", /console kills the containers of default\/web-operator/);
    await browser.go("/timeline?search=restartCount");
    await browser.sees(".entry", /Pod default\/web-operator changed/);
    const { status } = await cluster.client.get(Pod, "default/web-operator");
    assert.equal(status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 137);
    assert.deepEqual(browser.problems, []);
  });

  test("requests through the port are delayed until that is ended", async () => {
    await using browser = await TestBrowser.open(served.url);
    await browser.go("/controls");
    const type = async (ms: string) => {
      await browser.page.click(".controls input[type=number]", { count: 3 });
      await browser.page.keyboard.type(ms);
      await browser.page.keyboard.press("Enter");
    };
    await type("250");
    await browser.sees(".controls form", /waits 250 ms/);
    assert.equal(cluster.faults.requestDelay, 250);
    await type("0");
    await browser.sees(".controls form", /Requests are not delayed/);
    assert.deepEqual(browser.problems, []);
  });

  test("a snapshot is restored, and a fork of it continues separately", async () => {
    const map = (text: string) => ({ metadata: { name: "kept", namespace: "default" }, data: { text } });
    const { metadata } = await cluster.client.create(ConfigMap, map("before"));
    await using browser = await TestBrowser.open(served.url);
    await browser.go("/controls");
    await browser.click(".controls button", /Take snapshot/);
    await browser.sees(".snapshots li", /Snapshot 1: .* objects/);
    await cluster.client.patch(ConfigMap, "default/kept", { merge: { data: { text: "after" } } });
    await browser.click(".snapshots button", /Restore/);
    await browser.go(`/object?id=${metadata.uid}&tab=yaml`);
    await browser.sees(".yaml pre", /text: before/);
    await cluster.client.patch(ConfigMap, "default/kept", { merge: { data: { text: "after" } } });
    await browser.go("/controls");
    await browser.click(".snapshots button", /^Fork$/);
    await browser.sees(".forks li", /Fork 2/);
    const url = await browser.page.$eval(".forks a", (one) => (one as unknown as { href: string }).href);
    const fork = await browser.page.browser().newPage();
    // As the link does: it leads there from a page of another origin.
    await fork.goto(served.url);
    await fork.evaluate((to) => location.assign(to), url);
    await fork.waitForFunction(() => document.querySelectorAll(".place .title")[0]?.innerText.includes("fork"));
    await fork.goto(`${fork.url()}#/object?id=${metadata.uid}&tab=yaml`);
    await fork.waitForFunction(() => document.querySelectorAll(".yaml pre")[0]?.innerText.includes("text: before"));
    await browser.page.bringToFront();
    assert.equal((await cluster.client.get(ConfigMap, "default/kept")).data?.["text"], "after");
    await browser.click(".forks button", /Stop/);
    await browser.page.waitForFunction(() => document.querySelectorAll(".forks li").length === 0);
    assert.deepEqual(browser.problems, []);
  });

  test("a console whose cluster runs on fixed time says why; read-only, elsewhere or for other users there are no controls", async () => {
    const fixed = { cluster, time: { unavailable: "its nodes are real ones" } };
    await using one = await startConsole({ client: cluster.client, title: "fixed", embedded: fixed });
    await using browser = await TestBrowser.open(one.url);
    await browser.go("/controls");
    await browser.sees(".note", /cannot be changed: its nodes are real ones/);
    assert.deepEqual(await browser.texts(".speeds button"), []);
    const viewer = cluster.client.as({ user: "viewer", groups: ["system:authenticated"] });
    await using readOnly = await startConsole({ client: cluster.client, title: "ro", embedded: fixed, readOnly: true });
    await using elsewhere = await startConsole({ client: cluster.client, title: "elsewhere" });
    await using limited = await startConsole({ client: viewer, title: "limited", embedded: fixed });
    for (const [console, message] of [
      [readOnly, /the console is read-only/],
      [elsewhere, /use the console in its process/],
      [limited, /as its administrator/],
    ] as const) {
      await browser.page.goto(console.url);
      await browser.sees("nav", /Timeline/);
      assert.ok(!(await browser.texts("nav a")).includes("Controls"));
      await browser.go("/controls");
      await browser.sees(".empty", /Time, faults and snapshots are those of an embedded cluster/);
      const answer = await browser.page.evaluate(async () => {
        const body = JSON.stringify({ action: "snapshot" });
        return (await fetch("/console/controls", { method: "POST", body })).text();
      });
      assert.match(answer, message);
    }
  });
});

/** Code in `evaluate` runs in the page. */
declare const location: { assign(url: string): void };
declare const document: { querySelectorAll(css: string): HTMLElement[] };
interface HTMLElement {
  innerText: string;
  querySelector(css: string): { click(): void } | null;
}
