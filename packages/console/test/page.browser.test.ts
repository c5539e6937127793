import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { type Cluster, type Program, startCluster } from "@konverge/cluster";
import { sleep } from "@konverge/core";
import { ClusterRoleBinding, ConfigMap, Deployment, Pod } from "@konverge/kinds";
import { type Console, startConsole } from "../src/console.ts";
import { noChromium, TestBrowser } from "./chromium.ts";
import { exploreForgetful } from "./explored.ts";
import { recordCopies } from "./recorded.ts";

suite("the page, in Chromium", { skip: noChromium }, () => {
  let cluster: Cluster;
  let served: Console;

  before(async () => {
    cluster = await startCluster();
    served = await startConsole({ client: cluster.client, title: "test" });
  });

  after(async () => {
    await served.close();
    await cluster.stop();
  });

  const idOf = async (name: string) => {
    const { metadata } = await cluster.client.get(Deployment, `default/${name}`);
    return metadata.uid!;
  };

  const deployment = (name: string) => ({
    metadata: { name, namespace: "default" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "web", image: "nginx" }] } },
    },
  });

  test("script in fields of objects is shown as text and not executed", async () => {
    const attack = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
    await cluster.client.create(ConfigMap, {
      metadata: { name: "attack", namespace: "default", annotations: { note: attack } },
      data: { "a.html": attack },
    });
    const { metadata } = await cluster.client.get(ConfigMap, "default/attack");
    await using browser = await TestBrowser.open(served.url);
    await browser.go(`/object?id=${metadata.uid}&tab=yaml`);
    await browser.sees(".yaml pre", /<script>window\.hacked=1<\/script>/);
    await cluster.client.patch(ConfigMap, "default/attack", { merge: { data: { "a.html": `${attack}2` } } });
    await browser.go("/timeline");
    await browser.click(".entry button", /attack changed/);
    await browser.sees(".diff", /<script>/);
    assert.equal(await browser.page.evaluate(() => (globalThis as { hacked?: number }).hacked), undefined);
    assert.deepEqual(browser.problems, []);
  });

  test("a Deployment grows in the tree, and what it misses is said there", async () => {
    await using browser = await TestBrowser.open(served.url);
    await cluster.client.create(Deployment, deployment("web"));
    await browser.go(`/object?id=${await idOf("web")}`);
    await browser.sees(".node[data-kind=Deployment]", /2\/2/);
    assert.equal((await browser.texts(".node[data-kind=Pod]")).length, 2);
    const container = { name: "web", image: "nginx", resources: { requests: { cpu: "1000" } } };
    await cluster.client.patch(Deployment, "default/web", {
      merge: { spec: { template: { spec: { containers: [container] } } } },
    } as never);
    await browser.sees(".node[data-kind=Pod]", /cannot be scheduled.*Insufficient cpu/);
    assert.deepEqual(browser.problems, []);
  });

  test("a command runs in a container, and its output and exit code are shown", async () => {
    const pod = {
      metadata: { name: "shell", namespace: "default" },
      spec: { containers: [{ name: "main", image: "busybox", command: ["sleep", "3600"] }] },
    };
    const { metadata } = await cluster.client.create(Pod, pod);
    await using browser = await TestBrowser.open(served.url);
    await browser.go(`/object?id=${metadata.uid}&tab=exec`);
    await browser.sees(".state-line", /Ready/);
    await browser.page.waitForSelector(".exec input");
    await browser.page.type(".exec input", "echo '<b>hi</b>'; exit 3");
    await browser.page.keyboard.press("Enter");
    await browser.sees(".runs pre", /^<b>hi<\/b>\s+exit code 3$/);
    assert.deepEqual(browser.problems, []);
  });

  test("a port of a pod is opened on loopback, closed with the page, and not offered without the permission", async () => {
    cluster.image("example/hello", { run: webProgram(8080, "hello from the pod") });
    const container = { name: "main", image: "example/hello", ports: [{ containerPort: 8080 }] };
    const { metadata } = await cluster.client.create(Pod, {
      metadata: { name: "hello", namespace: "default" },
      spec: { containers: [container] },
    });
    let opened: URL;
    {
      await using browser = await TestBrowser.open(served.url);
      await browser.go(`/object?id=${metadata.uid}&tab=ports`);
      await browser.sees(".state-line", /Ready/);
      await browser.page.waitForFunction(() => document.querySelector(".ports input")?.value === "8080");
      await browser.click(".ports button", /Open port/);
      await browser.sees(".ports li", /Port 8080 is open at 127\.0\.0\.1:\d+/);
      opened = new URL(await browser.page.$eval(".ports li a", (one) => (one as unknown as { href: string }).href));
      assert.equal(opened.hostname, "127.0.0.1");
      assert.equal(await (await fetch(opened)).text(), "hello from the pod");
      assert.deepEqual(browser.problems, []);
      await using limited = await startConsole({ client: cluster.client.as({ user: "viewer" }), title: "limited" });
      await cluster.client.apply(ClusterRoleBinding, viewers, { fieldManager: "test" });
      const page = await browser.page.browser().newPage();
      await page.goto(`${limited.url}#/object?id=${metadata.uid}&tab=ports`);
      await page.waitForFunction(() => document.querySelector("main .empty")?.innerText.includes("pods/portforward"));
      assert.equal(await page.$(".ports"), null);
    }
    const isClosed = () =>
      fetch(opened)
        .then(() => false)
        .catch(() => true);
    while (!(await isClosed())) await sleep(cluster.clock, 50);
  });

  test("the size of what an operator sizes by its load is plotted against that load", async () => {
    const gauges = { requests_per_second: 40, replicas_wanted: 3, replicas_ready: 2 };
    const lines = Object.entries(gauges).map(
      ([name, value]) => `llm_deployment_${name}{namespace="default",name="chat"} ${value}\n`,
    );
    cluster.image("example/sizing", { run: webProgram(8080, lines.join("")) });
    const labels = { "app.kubernetes.io/managed-by": "konverge", "app.kubernetes.io/name": "llm-operator" };
    await cluster.client.create(Pod, {
      metadata: { name: "llm-operator", namespace: "default", labels },
      spec: { containers: [{ name: "main", image: "example/sizing" }] },
    });
    await using browser = await TestBrowser.open(served.url);
    await browser.go("/plots");
    await browser.sees(".plot", /Load and size of default\/chat/);
    await browser.sees(".plot .u-legend", /requests\/s.*replicas required.*replicas ready.*GPUs/s);
    assert.deepEqual(browser.problems, []);
  });

  test("actions are offered only with the permission for them", async () => {
    await cluster.client.create(Deployment, deployment("seen"));
    const id = await idOf("seen");
    await cluster.client.apply(ClusterRoleBinding, viewers, { fieldManager: "test" });
    await using limited = await startConsole({ client: cluster.client.as({ user: "viewer" }), title: "limited" });
    await using browser = await TestBrowser.open(served.url);
    await browser.go(`/object?id=${id}`);
    await browser.sees("[data-action=scale]", /Scale/);
    await browser.sees("[data-action=restart]", /Restart/);
    await browser.sees("[data-action=edit]", /Edit/);
    await browser.page.goto(limited.url);
    await browser.go(`/object?id=${id}`);
    const reviewed = await browser.page.waitForResponse((one) => one.url().includes("selfsubjectaccessreviews"));
    assert.equal(reviewed.status(), 200);
    await browser.page.waitForNetworkIdle({ idleTime: 300, concurrency: 1 });
    assert.deepEqual(await browser.texts("[data-action]"), []);
    await browser.go("/resources");
    await browser.sees(".note", /You have no permission to watch: .*Secret/);
  });

  test("an object is found, its tree walked and scaled with the keyboard alone", async () => {
    await cluster.client.create(Deployment, deployment("keys"));
    await using browser = await TestBrowser.open(served.url);
    const { page } = browser;
    const focused = () => page.evaluate(() => (document.activeElement as HTMLElement | null)?.innerText ?? "");
    const tabTo = async (text: RegExp) => {
      for (let i = 0; i < 60; i++) {
        await page.keyboard.press("Tab");
        if (text.test(await focused())) return;
      }
      assert.fail(`${text} is not reached by Tab`);
    };
    await tabTo(/^Resources$/);
    await page.keyboard.press("Enter");
    await browser.sees("h1", /Resources/);
    await page.keyboard.press("/");
    await page.keyboard.type("Deployment keys");
    await browser.sees(".objects td", /keys/);
    await tabTo(/keys$/);
    await page.keyboard.press("Enter");
    await browser.sees(".node", /keys/);
    await tabTo(/Deployment\s.*keys/s);
    await page.keyboard.press("ArrowRight");
    assert.match(await focused(), /ReplicaSet/);
    await page.keyboard.press("ArrowLeft");
    assert.match(await focused(), /Deployment/);
    await browser.sees("[data-action=scale]", /Scale/);
    await tabTo(/^Scale$/);
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open] input");
    await page.keyboard.down("Control");
    await page.keyboard.press("a");
    await page.keyboard.up("Control");
    await page.keyboard.type("3");
    await tabTo(/^Scale$/);
    await page.keyboard.press("Enter");
    await browser.sees(".node[data-kind=Deployment]", /3\/3/);
    assert.deepEqual(browser.problems, []);
  });

  test("a recording opens, steps forward and back, and shows objects as they were", async () => {
    const folder = mkdtempSync(join(tmpdir(), "konverge-console-"));
    try {
      const recording = join(folder, "reconciles.jsonl");
      await recordCopies(recording);
      await using shown = await startConsole({ recording, title: "reconciles.jsonl" });
      await using browser = await TestBrowser.open(shown.url);
      await browser.sees(".chip", /recording/);
      await browser.go("/timeline?controller=copies&search=apply");
      await browser.sees(".entry", /apply ConfigMap default\/a-copy/);
      // The keys of the previous and the next step.
      await browser.page.keyboard.press(",");
      await browser.sees(".entry.open .diff", /data\.text\s+hello bye/);
      await browser.page.keyboard.press(",");
      await browser.sees(".entry.open .diff", /data\s+\{"text":"hello"\}/);
      const { hash } = new URL(browser.page.url());
      await browser.click(".entry.open a", /apply ConfigMap/);
      await browser.click("[role=tab]", /YAML/);
      await browser.sees(".yaml pre", /text: hello/);
      await browser.click(".past button", /Show the end/);
      await browser.sees(".yaml pre", /text: bye/);
      assert.deepEqual(await browser.texts("[data-action]"), []);
      assert.deepEqual(browser.problems, []);
      // Another user has the file and what is behind `#`.
      const copy = join(folder, "copy.jsonl");
      copyFileSync(recording, copy);
      await using other = await startConsole({ recording: copy, title: "copy.jsonl" });
      await using opened = await TestBrowser.open(other.url + hash);
      await opened.sees(".past", /You see the state at/);
      await opened.sees(".entry.open .diff", /data\s+\{"text":"hello"\}/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("results of benchmarks are plotted, one file at a time, and a link leads to one of them", async () => {
    await using shown = await startConsole({ results: ["bench/results"], title: "results" });
    await using browser = await TestBrowser.open(shown.url);
    assert.deepEqual(await browser.texts("header nav a"), ["Results"]);
    await browser.click(".results nav a", /An operator compared with controller-runtime/);
    await browser.sees("h1", /An operator compared with controller-runtime/);
    await browser.sees(".bars", /cold: s ratio [\d.]+\s+konverge\s+[\d.]+\s+controller-runtime\s+[\d.]+/);
    const widths = await browser.page.$$eval(".bars:first-child .result-bar", (bars) =>
      bars.map((one) => (one as unknown as { style: { width: string } }).style.width),
    );
    assert.ok(widths.length === 2 && widths.includes("100%"), widths.join());
    await browser.go("/results?file=apiserver.md");
    await browser.sees("h1", /The embedded API server/);
    await browser.sees(".bars", /creates with 1 client, 300: value/);
    assert.deepEqual(browser.problems, []);
  });

  test("a finding of the fault explorer opens, leads to its fault, and steps forward and back", async () => {
    const folder = mkdtempSync(join(tmpdir(), "konverge-console-"));
    try {
      const exploration = await exploreForgetful(folder);
      await using shown = await startConsole({ exploration, title: "exploration.json" });
      await using browser = await TestBrowser.open(shown.url);
      await browser.sees(".chip", /exploration/);
      await browser.sees(".finding", /a-copy/);
      await browser.click(".finding button", /Go to the fault/);
      await browser.sees(".entry.open", /fault\s*explorer error .*create configmaps/);
      await browser.page.keyboard.press(".");
      await browser.sees(".entry.open", /write\s*operator #1 create configmaps\S*a-copy/);
      await browser.page.keyboard.press(",");
      await browser.sees(".entry.open", /fault\s*explorer/);
      await browser.click(".past button", /Show the end/);
      assert.deepEqual(await browser.texts("nav a"), ["Timeline"]);
      assert.deepEqual(browser.problems, []);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** A program that answers every HTTP request on a port of its pod with a text. */
function webProgram(port: number, text: string): Program {
  return async ({ expose, stop }) => {
    const server = createServer((_, response) => response.end(text));
    await once(server.listen(0, "127.0.0.1"), "listening");
    expose(port, { host: "127.0.0.1", port: (server.address() as AddressInfo).port });
    await new Promise((resolve) => stop.addEventListener("abort", resolve, { once: true }));
    server.close();
  };
}

const viewers = {
  metadata: { name: "viewers" },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
  subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "viewer" }],
};

/** Code in `evaluate` runs in the page. */
declare const document: {
  activeElement: unknown;
  querySelector(css: string): (HTMLElement & { value?: string }) | null;
};
interface HTMLElement {
  innerText: string;
}
