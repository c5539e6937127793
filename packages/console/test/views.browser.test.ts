import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { type Cluster, startCluster } from "@konverge/cluster";
import { type KindRef, type KubeObject, realClock, sleep } from "@konverge/core";
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  ResourceQuota,
  Secret,
  ValidatingWebhookConfiguration,
} from "@konverge/kinds";
import type { SerializedAXNode } from "puppeteer-core";
import { type Console, startConsole } from "../src/console.ts";
import { noChromium, TestBrowser } from "./chromium.ts";

/** Roles of elements that the user operates. */
const OPERATED = new Set([
  "button",
  "link",
  "textbox",
  "searchbox",
  "combobox",
  "checkbox",
  "slider",
  "tab",
  "spinbutton",
]);

suite("what the views show, in Chromium", { skip: noChromium }, () => {
  let cluster: Cluster;
  let served: Console;

  before(async () => {
    cluster = await startCluster({ strictImages: true, images: ["nginx"] });
    const time = { unavailable: "this is a test" };
    served = await startConsole({ client: cluster.client, title: "test", embedded: { cluster, time } });
  });

  after(async () => {
    await served.close();
    await cluster.stop();
  });

  const deploy = async (name: string, image = "nginx") => {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: "web", image }] } };
    const { metadata } = await cluster.client.create(Deployment, {
      metadata: { name, namespace: "default" },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    });
    return metadata.uid!;
  };

  test("the tree says which image cannot be pulled, which webhook fails and which quota is exceeded", async () => {
    const { client } = cluster;
    await using browser = await TestBrowser.open(served.url);
    await browser.go(`/object?id=${await deploy("typo", "ngnix")}`);
    await browser.sees(".node[data-kind=Pod]", /image "?ngnix"?|ngnix.*(pull|image)/);
    await client.create(ValidatingWebhookConfiguration, {
      metadata: { name: "gate" },
      webhooks: [
        {
          name: "gate.example.com",
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          clientConfig: { url: "https://127.0.0.1:1/" },
          objectSelector: { matchLabels: { app: "gated" } },
          rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"] }],
        },
      ],
    });
    await browser.go(`/object?id=${await deploy("gated")}`);
    await browser.sees(".ghost", /2 pods are missing\s+.*failed calling webhook "gate\.example\.com"/);
    const spec = { hard: { pods: "3" } };
    await client.create(ResourceQuota, { metadata: { name: "few", namespace: "default" }, spec });
    const counted = async () => (await client.get(ResourceQuota, "default/few")).status?.hard;
    while ((await counted()) === undefined) await sleep(client.clock, 20);
    await browser.go(`/object?id=${await deploy("third")}`);
    await browser.sees(".ghost", /1 pod is missing\s+.*exceeded quota: few/);
    await client.delete(ResourceQuota, "default/few");
    assert.deepEqual(browser.problems, []);
  });

  test("the tree shows what an object refers to, and an error in several conditions is shown once", async () => {
    const { client } = cluster;
    const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true } as const;
    await client.create(CustomResourceDefinition, {
      metadata: { name: "logins.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "logins", kind: "Login" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: open } }],
      },
    });
    const logins: KindRef<KubeObject & { spec: object; status: object }> = {
      ...{ group: "example.com", version: "v1", kind: "Login", plural: "logins", namespaced: true },
    };
    const named = (name: string) => ({ metadata: { name, namespace: "default" } });
    const secret = await client.create(Secret, named("password"));
    const condition = (type: string, status: string) => ({ type, status, reason: "Full", message: "the disk is full" });
    const conditions = [condition("Ready", "False"), condition("Progressing", "False"), condition("Degraded", "True")];
    const { metadata } = await until(() =>
      client.create(logins, { ...named("app"), spec: { secretRef: { name: "password" } }, status: { conditions } }),
    );
    await using browser = await TestBrowser.open(served.url);
    const { page } = browser;
    await browser.go(`/object?id=${metadata.uid}`);
    await browser.sees(".uses .node[data-kind=Secret]", /uses\s+Ready\s+Secret\s+password/);
    await browser.sees(".conditions li", /^Ready[\s\S]*Degraded[\s\S]*Progressing[\s\S]*the disk is full$/);
    assert.equal((await browser.texts(".conditions .message")).length, 1);
    await browser.click(".uses .node", /password/);
    await browser.sees(".facts dd", /^Login app$/);
    await browser.sees("h2", /password/);
    assert.ok(page.url().includes(secret.metadata.uid!));
    await page.setViewport({ width: 400, height: 800 });
    // Labels are above their values.
    await page.waitForFunction(() => {
      const [label, value] = ["dt", "dd"].map((one) => document.querySelector(`.facts ${one}`).getBoundingClientRect());
      return label!.bottom <= value!.top && label!.left === value!.left;
    });
    assert.deepEqual(browser.problems, []);
  });

  test("YAML shows what each field manager last changed, and describes fields by the arrow keys", async () => {
    const { client } = cluster;
    const config = (text: string) => ({ metadata: { name: "shared", namespace: "default" }, data: { text } });
    const { metadata } = await client.apply(ConfigMap, config("first"), { fieldManager: "team-a" });
    await using browser = await TestBrowser.open(served.url);
    const { page } = browser;
    await browser.go(`/object?id=${metadata.uid}&tab=yaml`);
    await browser.sees(".yaml pre", /text: first/);
    await client.apply(ConfigMap, config("second"), { fieldManager: "team-a" });
    await browser.sees(".yaml pre", /text: second/);
    await page.click(".yaml .toolbar input");
    await browser.click(".managers summary", /1 field changed/);
    await browser.sees(".managers .diff", /data\.text\s+first second/);
    await page.focus(".yaml .scroll");
    await page.keyboard.press("ArrowDown");
    await browser.sees(".yaml-line.current", /^kind/);
    await browser.sees(".description", /^kind \(string\): /);
    await page.keyboard.press("ArrowDown");
    await browser.sees(".yaml-line.current", /^apiVersion/);
    await browser.sees(".description", /^apiVersion \(string\): /);
    assert.deepEqual(browser.problems, []);
  });

  test("an edit is checked in a dry run, which changes nothing, and then saved", async () => {
    const { client } = cluster;
    const config = { metadata: { name: "edited", namespace: "default" }, data: { text: "before" } };
    const { metadata } = await client.create(ConfigMap, config);
    const text = async () => (await client.get(ConfigMap, "default/edited")).data?.["text"];
    await using browser = await TestBrowser.open(served.url);
    const { page } = browser;
    await browser.go(`/object?id=${metadata.uid}`);
    await browser.click("[data-action=edit]", /Edit/);
    await page.waitForSelector("dialog textarea");
    const type = (from: string, to: string) =>
      page.$eval(
        "dialog textarea",
        (one, before, after) => {
          const area = one as unknown as { value: string; dispatchEvent(event: Event): void };
          area.value = area.value.replace(before, after);
          area.dispatchEvent(new Event("input", { bubbles: true }));
        },
        from,
        to,
      );
    await type("text: before", "texts: 5");
    await browser.click("dialog button", /Check/);
    await browser.sees(".refusal", /\S/);
    await type("texts: 5", "text: after");
    await browser.click("dialog button", /Check/);
    await browser.sees(".accepted", /It would change:\s+Changed fields\s+data\.text\s+before after/);
    assert.equal(await text(), "before");
    await browser.click("dialog button.primary", /Save/);
    await page.waitForSelector("dialog", { hidden: true });
    assert.equal(await text(), "after");
    assert.deepEqual(browser.problems, []);
  });

  test("everything that the user operates has a name, and no view is wider than a small screen", async () => {
    const id = await deploy("named");
    await using browser = await TestBrowser.open(served.url);
    const { page } = browser;
    for (const view of [
      "/overview",
      "/resources",
      `/object?id=${id}`,
      `/object?id=${id}&tab=yaml`,
      "/timeline",
      "/plots",
      "/controls",
    ]) {
      await page.setViewport({ width: 1400, height: 900 });
      await browser.go(view);
      await browser.sees("main", /\S/);
      const tree = await page.accessibility.snapshot();
      const unnamed = operated(tree).filter(({ name }) => !name);
      assert.deepEqual(unnamed, [], view);
      await page.setViewport({ width: 360, height: 740 });
      // Plots and the timeline's strip follow the size of the window.
      await page.waitForFunction(() => {
        const { scrollWidth, clientWidth } = document.querySelector("main");
        const strip = document.querySelector(".strip canvas");
        return scrollWidth === clientWidth && (!strip || strip.width === strip.clientWidth);
      });
    }
    assert.deepEqual(browser.problems, []);
  });
});

/** The result of a request, repeated while the kind is not served yet. */
async function until<T>(request: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await request();
    } catch (error) {
      if (tries === 100) throw error;
      await sleep(realClock(), 50);
    }
  }
}

/** All elements of a page that are operated, as a screen reader knows them. */
function operated(node: SerializedAXNode | null): SerializedAXNode[] {
  if (!node) return [];
  const below = (node.children ?? []).flatMap(operated);
  return OPERATED.has(node.role) ? [node, ...below] : below;
}

/** Code in `evaluate` runs in the page. */
declare const document: {
  querySelector(css: string): {
    scrollWidth: number;
    clientWidth: number;
    width: number;
    getBoundingClientRect(): { left: number; top: number; bottom: number };
  };
};
