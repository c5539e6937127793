import assert from "node:assert/strict";
import { test } from "node:test";
import { type Container, Pod, Service } from "@konverge/kinds";
import { node, onNodes, type VirtualNodes } from "./virtual-nodes.ts";

const nodes = [node("one"), node("two")];
const box = (script: string, more: Partial<Container> = {}) => ({
  restartPolicy: "Never" as const,
  containers: [{ name: "main", image: "busybox", command: ["sh", "-c", script], ...more }],
});
const outputOf = async ({ cluster, wait, pass, ...stage }: VirtualNodes, name: string, script: string) => {
  await stage.pod(name, box(script));
  await pass(20_000);
  const lines: string[] = [];
  await wait(
    (async () => {
      for await (const line of cluster.client.logs(`default/${name}`, {})) lines.push(line);
    })(),
  );
  return lines;
};
const service = ({ cluster, wait }: VirtualNodes, name: string, port: number) =>
  wait(
    cluster.client.create(Service, {
      metadata: { name, namespace: "default" },
      spec: { selector: { app: name }, ports: [{ port: 80, targetPort: port }] },
    } as never),
  );

test("busybox's httpd serves files of its container, and a readiness probe asks it", () =>
  onNodes(nodes, async (stage) => {
    const readinessProbe = { httpGet: { path: "/", port: 8080 } };
    const script = "mkdir /www; echo hello > /www/index.html; sleep 5; exec httpd -f -p 8080 -h /www";
    await service(stage, "web", 8080);
    await stage.pod("web", box(script, { readinessProbe }), { labels: { app: "web" } });
    await stage.pass(2000);
    const ready = async () => (await stage.get("web")).status?.conditions?.find(({ type }) => type === "Ready")?.status;
    assert.equal(await ready(), "False");
    await stage.pass(30_000);
    assert.equal(await ready(), "True");
    assert.deepEqual(
      await outputOf(stage, "client", "wget -q -O - http://web; wget -q -O - http://web/no || echo $?"),
      ["hello", "1"],
    );
    // What is no address at all is not found either.
    const odd = "printf 'GET //[ HTTP/1.0\\r\\n\\r\\n' | nc web 80 | head -n 1";
    assert.match((await outputOf(stage, "odd", odd)).join(), /404 Not Found/);
  }));

test("nc -l takes one connection, and with -k -e one after the other", () =>
  onNodes(nodes, async (stage) => {
    await service(stage, "once", 9000);
    await service(stage, "echo", 7);
    await stage.pod("once", box("echo welcome | nc -l -p 9000; echo over"), { labels: { app: "once" } });
    await stage.pod("echo", box("nc -lk -p 7 -e cat"), { labels: { app: "echo" } });
    await stage.pass(5000);
    const script = "echo hi | nc once 80; echo one | nc echo 80; echo two | nc echo 80";
    assert.deepEqual(await outputOf(stage, "client", script), ["welcome", "one", "two"]);
    assert.deepEqual((await stage.get("once")).status?.phase, "Succeeded");
    await stage.wait(stage.cluster.client.delete(Pod, "default/echo"));
    await stage.pass(40_000);
    assert.match((await outputOf(stage, "late", "echo x | nc -w 2 echo 80 2>&1; echo $?")).join(), /,?1$/);
  }));

test("session affinity keeps a client with its endpoint until the client has been idle for the timeout", () =>
  onNodes(nodes, async (stage) => {
    const { cluster, wait } = stage;
    const spec = {
      selector: { app: "web" },
      ports: [{ port: 80, targetPort: 8080 }],
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
    };
    await wait(cluster.client.create(Service, { metadata: { name: "web", namespace: "default" }, spec } as never));
    const script = "mkdir /www; hostname > /www/index.html; exec httpd -f -p 8080 -h /www";
    for (const name of ["a", "b", "c"]) await stage.pod(name, box(script), { labels: { app: "web" } });
    await stage.pass(5000);
    const servers = (count: number, before: string) =>
      `for i in $(seq 1 ${count}); do ${before}; wget -q -O - http://web; done | sort -u | wc -l`;
    await stage.pod("client", box(`${servers(9, "sleep 5")}; ${servers(9, "sleep 11")}`));
    await stage.pass(200_000);
    const [kept, changing] = await wait(Array.fromAsync(cluster.client.logs("default/client")));
    assert.equal(kept, "1");
    assert.ok(Number(changing) > 1);
  }));

test("a pod in its node's network has the node's host name, and a long pod name is cut to what Linux allows", () =>
  onNodes(nodes, async (stage) => {
    const script = "hostname; echo $HOSTNAME; cat /etc/hostname";
    const long = `${"a".repeat(62)}-${"b".repeat(20)}`;
    await stage.pod("host", { ...box(script), hostNetwork: true, nodeName: "two" });
    await stage.pod(long, box(script));
    await stage.pass(5000);
    const logged = async (name: string) => {
      const lines: string[] = [];
      for await (const line of stage.cluster.client.logs(`default/${name}`, {})) lines.push(line);
      return lines;
    };
    assert.deepEqual(await stage.wait(logged("host")), ["two", "two", "two"]);
    assert.deepEqual(await stage.wait(logged(long)), Array(3).fill("a".repeat(62)));
  }));
