import assert from "node:assert/strict";
import { test } from "node:test";
import { ClusterRoleBinding, Node, Pod, type PodSpec, Service } from "@konverge/kinds";
import { node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

const nodes = [node("one"), node("two")];

/** What a script writes in a new pod. */
async function output(stage: VirtualNodes, name: string, script: string, nodeName = "two"): Promise<string> {
  const containers = [{ name: "main", image: "busybox", command: ["sh", "-c", script] }];
  await stage.pod(name, { restartPolicy: "Never", containers, nodeName });
  for (let i = 0; i < 50 && (await stage.get(name)).status?.phase !== "Succeeded"; i++) {
    // A TLS handshake takes turns of the real event loop.
    await new Promise((resolve) => setImmediate(resolve));
    await stage.pass(100);
  }
  return (await stage.wait(Array.fromAsync(stage.cluster.client.logs(`default/${name}`)))).join("\n");
}

async function addressOf({ cluster, wait }: VirtualNodes, name: string): Promise<string> {
  const { status } = await wait(cluster.client.get(Node, name));
  return status?.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "";
}

test("a kubelet's port refuses requests without a valid token, and those of users without permission", () =>
  onNodes(nodes, async (stage) => {
    const { client } = stage.cluster;
    const host = await addressOf(stage, "one");
    const token = "/var/run/secrets/kubernetes.io/serviceaccount/token";
    const code = (path: string, header = "") =>
      `curl -sIk -o /dev/null -w '%{http_code}\\n' ${header} https://${host}:10250${path}`;
    const own = `--header "Authorization: Bearer $(cat ${token})"`;
    const script = [
      code("/metrics"),
      code("/metrics", '--header "Authorization: Bearer wrong"'),
      code("/metrics", own),
      `curl -sk ${own} https://${host}:10250/pods`,
    ].join("; ");
    assert.equal(
      await output(stage, "stranger", script),
      "401\n401\n403\nForbidden (user=system:serviceaccount:default:default, verb=get, resource=nodes, subresource(s)=[proxy])",
    );
    await stage.wait(
      client.create(ClusterRoleBinding, {
        metadata: { name: "kubelet-api" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:kubelet-api-admin" },
        subjects: [{ kind: "ServiceAccount", namespace: "default", name: "default" }],
      }),
    );
    const allowed = [`curl -sk ${own} https://${host}:10250/healthz; echo`, code("/pods", own), code("/nothing", own)];
    assert.equal(await output(stage, "admin", allowed.join("; ")), "ok\n200\n404");
  }));

test("the proxy of a simulated node leads to its kubelet", () =>
  onNodes(nodes, async (stage) => {
    await stage.pod("here", { nodeName: "one" });
    await stage.pass(2_000);
    const get = (path: string) =>
      stage.wait(stage.cluster.client.request({ method: "GET", path: `/api/v1/nodes/${path}` }));
    assert.equal(await get("one/proxy/healthz"), "ok");
    const podsOf = async (name: string) =>
      (JSON.parse(await get(`${name}/proxy/pods`)) as { items: Pod[] }).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(await podsOf("one:10250"), ["here"]);
    assert.deepEqual(JSON.parse(await get("one:10250/proxy/runningpods")).items.length, 1);
    assert.deepEqual(await podsOf("https:two:10250"), []);
    await assert.rejects(get("one/proxy/nothing"), /could not find|not found/);
    await assert.rejects(get("none/proxy/healthz"), /not found|could not find/);
  }));

test("the health check port of a Service reports whether a node has ready endpoints of it", () =>
  onNodes(nodes, async (stage) => {
    const { client } = stage.cluster;
    const serving = (nodeName: string): Partial<PodSpec> => ({
      nodeName,
      terminationGracePeriodSeconds: 300,
      containers: [
        {
          name: "main",
          image: "busybox",
          command: [
            "sh",
            "-c",
            "mkdir /www; echo hello > /www/index.html; trap : TERM; httpd -p 8080 -h /www; sleep 1000 & while true; do wait; done",
          ],
          readinessProbe: { httpGet: { port: 8080 }, periodSeconds: 1 },
        },
      ],
    });
    await stage.pod("web", serving("one"), { labels: { app: "web" } });
    const made = await stage.wait(
      client.create(Service, {
        metadata: { name: "web", namespace: "default" },
        spec: {
          type: "LoadBalancer",
          externalTrafficPolicy: "Local",
          selector: { app: "web" },
          ports: [{ port: 80, targetPort: 8080 }],
        },
      } as never),
    );
    await stage.pass(5_000);
    const { healthCheckNodePort, ports } = made.spec!;
    const [one, two] = [await addressOf(stage, "one"), await addressOf(stage, "two")];
    const code = (host: string) => `curl -s -o /dev/null -w '%{http_code}\\n' http://${host}:${healthCheckNodePort}/`;
    const fetched = (host: string) =>
      `curl -s --connect-timeout 1 http://${host}:${ports![0]!.nodePort}/ || echo refused`;
    const everywhere = [code(one), code(two), fetched(one), fetched(two)].join("; ");
    assert.equal(await output(stage, "first", everywhere, "one"), "200\n503\nhello\nrefused");
    // kube-proxy leads what begins on the node itself to any endpoint.
    assert.equal(await output(stage, "own", fetched(two), "two"), "hello");
    const report = await output(stage, "report", `curl -s http://${one}:${healthCheckNodePort}/`);
    assert.deepEqual(JSON.parse(report), {
      service: { namespace: "default", name: "web" },
      localEndpoints: 1,
      serviceProxyHealthy: true,
    });
    await stage.wait(client.delete(Pod, "default/web"));
    await stage.pass(2_000);
    // The load balancer sends nothing new, and what it has sent still arrives.
    assert.equal(await output(stage, "second", [code(one), fetched(one)].join("; ")), "503\nhello");
  }));
