import assert from "node:assert/strict";
import { test } from "node:test";
import { Namespace, NetworkPolicy, Service } from "@konverge/kinds";
import { node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

const nodes = [node("one"), node("two")];
const box = (script: string, nodeName?: string) => ({
  restartPolicy: "Never" as const,
  ...(nodeName && { nodeName }),
  containers: [
    { name: "main", image: "busybox", command: ["sh", "-c", script], ports: [{ name: "web", containerPort: 8080 }] },
  ],
});
const HELLO = "echo hello > index.html; exec httpd -f -p 8080";

/** A server behind a Service, and pods that ask it. */
async function withServer(play: (stage: VirtualNodes, ask: Ask) => Promise<void>, more: object = {}): Promise<void> {
  await onNodes(nodes, async (stage) => {
    const { cluster, wait } = stage;
    await wait(cluster.client.create(Namespace, { metadata: { name: "other", labels: { team: "other" } } } as never));
    await wait(
      cluster.client.create(Service, {
        metadata: { name: "web", namespace: "default" },
        spec: { selector: { app: "web" }, ports: [{ port: 80, targetPort: "web" }], ...more },
      } as never),
    );
    await stage.pod("server", box(HELLO, "one"), { labels: { app: "web" } });
    await stage.pass(5000);
    let count = 0;
    await play(stage, async (labels, place = {}) => {
      const name = `client-${++count}`;
      const script = "wget -q -T 5 -O - http://web.default || echo failed";
      await stage.pod(name, box(script, place.node), { labels, namespace: place.namespace ?? "default" });
      await stage.pass(20_000);
      const lines: string[] = [];
      const key = `${place.namespace ?? "default"}/${name}`;
      await wait(
        (async () => {
          for await (const line of cluster.client.logs(key, {})) lines.push(line);
        })(),
      );
      return lines.join();
    });
  });
}
type Ask = (labels: Record<string, string>, place?: { namespace?: string; node?: string }) => Promise<string>;
const policy = ({ cluster, wait }: VirtualNodes, name: string, spec: object) =>
  wait(cluster.client.create(NetworkPolicy, { metadata: { name, namespace: "default" }, spec } as never));

test("a pod that a NetworkPolicy selects is reached only by those that a rule names", () =>
  withServer(async (stage, ask) => {
    assert.equal(await ask({ app: "friend" }), "hello");
    await policy(stage, "closed", { podSelector: { matchLabels: { app: "web" } }, policyTypes: ["Ingress"] });
    assert.equal(await ask({ app: "friend" }), "failed");
    await policy(stage, "friends", {
      podSelector: { matchLabels: { app: "web" } },
      policyTypes: ["Ingress"],
      ingress: [
        { from: [{ podSelector: { matchLabels: { app: "friend" } } }], ports: [{ port: "web" }] },
        { from: [{ namespaceSelector: { matchLabels: { team: "other" } } }], ports: [{ port: 9999 }] },
      ],
    });
    assert.equal(await ask({ app: "friend" }), "hello");
    assert.equal(await ask({ app: "stranger" }), "failed");
    assert.equal(await ask({ app: "friend" }, { namespace: "other" }), "failed");
    await policy(stage, "others", {
      podSelector: {},
      policyTypes: ["Ingress"],
      ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: "other" } } }] }],
    });
    assert.equal(await ask({ app: "friend" }, { namespace: "other" }), "hello");
  }));

test("a pod whose egress a NetworkPolicy selects reaches only what a rule names", () =>
  withServer(async (stage, ask) => {
    const podSelector = { matchLabels: { app: "caged" } };
    await policy(stage, "caged", { podSelector, policyTypes: ["Egress"], egress: [] });
    assert.equal(await ask({ app: "caged" }), "failed");
    assert.equal(await ask({ app: "free" }), "hello");
    const pods = { cidr: "10.244.0.0/16" };
    await policy(stage, "block", { podSelector, policyTypes: ["Egress"], egress: [{ to: [{ ipBlock: pods }] }] });
    assert.equal(await ask({ app: "caged" }), "hello");
  }));

test("a Service with internalTrafficPolicy Local leads to pods of the same node alone", () =>
  withServer(
    async (_stage, ask) => {
      assert.equal(await ask({}, { node: "one" }), "hello");
      assert.equal(await ask({}, { node: "two" }), "failed");
    },
    { internalTrafficPolicy: "Local" },
  ));

for (const label of ["service.kubernetes.io/headless", "service.kubernetes.io/service-proxy-name"]) {
  test(`a Service with the label ${label} is not proxied until the label is removed`, () =>
    withServer(async ({ cluster, wait }, ask) => {
      const labeled = (value: string | null) =>
        wait(cluster.client.patch(Service, "default/web", { merge: { metadata: { labels: { [label]: value } } } }));
      await labeled("other");
      assert.equal(await ask({}), "failed");
      await labeled(null);
      assert.equal(await ask({}), "hello");
    }));
}
