import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { createAuthority } from "@konverge/apiserver";
import { type Cluster, type ClusterPort, plainNodes, startCluster } from "@konverge/cluster";
import { type Console, startConsole } from "@konverge/console";
import { noChromium, TestBrowser } from "@konverge/console/chromium";
import { type KindRef, type KubeObject, realClock } from "@konverge/core";
import { PretendServers } from "@konverge/database-operator/pretend-servers";
import { Node, Pod } from "@konverge/kinds";
import { operators } from "@konverge/operators";
import { deploy } from "../deploy/deploy.ts";
import { DEFAULT_IMAGE, DEFAULT_NAMESPACE } from "../manifests/defaults.ts";
import { operatorCatalog } from "../operator-image/catalog.ts";
import { OPERATOR_IMAGE, operatorProgram } from "../operator-image/operator-image.ts";
import { chosenOperators } from "../operators/operator-modules.ts";

const OPERATOR = "database-operator";
const NAME = "postgres-orders";

suite("the console beside an operator, in Chromium", { skip: noChromium }, () => {
  let cluster: Cluster;
  let port: ClusterPort;
  let served: Console;
  let id: string;
  let database: KindRef<KubeObject>;

  before(async () => {
    const clock = realClock();
    const authority = createAuthority(clock);
    cluster = await startCluster({ clock, rootCertificate: authority.cert, nodes: plainNodes(3) });
    const catalog = await operatorCatalog({ modules: ["@konverge/operators"], names: OPERATOR });
    cluster.image(OPERATOR_IMAGE, { run: operatorProgram(catalog, { clock }) });
    // Servers that behave as PostgreSQL's do, which are not on this machine.
    new PretendServers({ cluster, clock } as never).play("postgres");
    port = await cluster.listen({ authority });
    served = await startConsole({ client: cluster.client, title: "test" });
    await deploy(chosenOperators(operators, OPERATOR), cluster.client, {
      namespace: DEFAULT_NAMESPACE,
      image: DEFAULT_IMAGE,
      tell: () => {},
    });
    database = await cluster.client.mapper.resolve({ apiVersion: "example.com/v1", kind: "Database" });
    const { metadata } = await cluster.client.create(database, {
      apiVersion: "example.com/v1",
      kind: "Database",
      metadata: { name: NAME, namespace: DEFAULT_NAMESPACE },
      spec: { version: "16.4", size: "5Gi", instances: 2, synchronous: 1, failover: { delay: "2s" } },
    } as never);
    id = metadata.uid!;
  });

  after(async () => {
    await served?.close();
    await cluster?.stop();
    await port?.close();
  });

  test("a sample converges in the tree, down to its pods", async () => {
    await using browser = await TestBrowser.open(served.url);
    await browser.go(`/object?id=${id}`);
    await browser.sees(".state-line", /^\s*Ready/);
    await browser.sees(".node[data-kind=StatefulSet]", /2\/2/);
    await browser.sees(".node[data-kind=Pod]", /primary\s+postgres-orders-0/);
    await browser.sees(".node[data-kind=Pod]", /standby\s+postgres-orders-1/);
    await browser.go("/overview");
    await browser.sees(".controllers", /database-operator\s+1\/1 pods/);
    await browser.sees(".controllers tr", /databases\.example\.com/);
    await browser.go("/plots");
    await browser.sees(".plot .u-legend", /database-operator/);
    await browser.page.setViewport({ width: 390, height: 844 });
    await browser.go("/timeline");
    await browser.sees(".entry", /reconcile\s+databases\.example\.com default\/postgres-orders/);
    assert.deepEqual(browser.problems, []);
  });

  test("an edit that a webhook refuses in a dry run shows its message and cannot be saved", async () => {
    await using browser = await TestBrowser.open(served.url);
    const { page } = browser;
    await browser.go(`/object?id=${id}`);
    await browser.click("[data-action=edit]", /Edit/);
    await page.waitForSelector("dialog textarea");
    await page.evaluate(() => {
      const area = document.querySelector("dialog textarea");
      area.value = area.value.replace("synchronous: 1", "synchronous: 2");
      area.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await browser.click("dialog button", /Check/);
    await browser.sees(".refusal", /spec\.synchronous.*must be less than spec\.instances \(2\)/);
    const save = await page.$$eval(
      "dialog button",
      (all) =>
        all
          .map((one) => one as unknown as { innerText: string; disabled: boolean })
          .find((one) => one.innerText === "Save")?.disabled,
    );
    assert.equal(save, true);
    assert.deepEqual(browser.problems, []);
  });

  test("an object is paused, resumed and reconciled at once, and the timeline shows it", async () => {
    await using browser = await TestBrowser.open(served.url);
    await browser.go(`/object?id=${id}`);
    await browser.click("[data-action=pause]", /Pause/);
    await browser.sees(".state-line", /Paused/);
    await browser.click("[data-action=pause]", /Resume/);
    await browser.sees(".state-line", /Ready/);
    await browser.click("[data-action=reconcile]", /Reconcile now/);
    await browser.go(`/timeline?object=${id}&search=reconcile-now`);
    await browser.sees(".entry", /Database default\/postgres-orders changed by konverge-console/);
    assert.deepEqual(browser.problems, []);
  });

  test("when an operator is killed the timeline shows its end, its successor and who leads then", async () => {
    const pods = await cluster.client.list(Pod, { labelSelector: `app=${OPERATOR}` });
    const { name, uid } = pods.items[0]!.metadata;
    await using browser = await TestBrowser.open(served.url);
    await browser.go(`/object?id=${uid}`);
    await browser.click("[data-action=delete]", /Delete pod/);
    await browser.click("dialog button.primary", /Delete pod/);
    await browser.go(`/timeline?search=${OPERATOR}`);
    await browser.sees(".entry", new RegExp(`Pod default/${name} deleted`));
    await browser.sees(".entry", /Pod default\/database-operator-\S+ created/);
    await browser.sees(".entry", new RegExp(`operator\\s+${OPERATOR} (?!${name})\\S+ leads`));
    assert.deepEqual(browser.problems, []);
  });

  test("when a Database fails over, the tree and the timeline show which pod became the primary", async () => {
    const { client } = cluster;
    await using browser = await TestBrowser.open(served.url);
    await browser.go(`/object?id=${id}`);
    await browser.sees(".node[data-kind=Pod]", /primary\s+postgres-orders-0/);
    // Its successor finds no node, so another has to take its place.
    const nodes = (await client.list(Node)).items.map(({ metadata }) => metadata.name);
    for (const node of nodes) await client.patch(Node, node, { merge: { spec: { unschedulable: true } } });
    await client.delete(Pod, `${DEFAULT_NAMESPACE}/postgres-orders-0`);
    await browser.sees(".node[data-kind=Pod]", /primary\s+postgres-orders-1/);
    await browser.sees(".node[data-kind=Pod]", /postgres-orders-0\s+a pod cannot be scheduled/);
    await browser.go(`/timeline?object=${id}&search=currentPrimary`);
    // Between the two primaries the status names none: that is a change as well.
    await browser.sees(".entry", /Database default\/postgres-orders changed.*status\.currentPrimary postgres-orders-1/);
    for (const node of nodes) await client.patch(Node, node, { merge: { spec: { unschedulable: false } } });
    await browser.go(`/object?id=${id}`);
    await browser.sees(".node[data-kind=Pod]", /standby\s+postgres-orders-0/);
    assert.deepEqual(browser.problems, []);
  });
});

/** Code in `evaluate` runs in the page. */
declare const document: { querySelector(css: string): { value: string; dispatchEvent(event: Event): void } };
