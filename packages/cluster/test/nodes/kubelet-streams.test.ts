import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { connect } from "@konverge/client";
import type { Cluster, ClusterPort } from "@konverge/cluster";
import { Node, Pod, Service } from "@konverge/kinds";
import { REACHABLE, withFakeKubelet } from "./fake-kubelet.ts";

const skip = REACHABLE === undefined && "this machine has no address but its loopback";

/** A client that does not try again what is refused. */
function administrator({ url, authority, credential }: ClusterPort) {
  const { cert, key } = credential("kubernetes-admin", ["system:masters"]);
  const identity = { cert: { value: cert }, key: { value: key } };
  return connect({ config: { server: url, ca: { value: authority.cert }, ...identity }, retry: false });
}

const get = async ({ client }: Cluster, path: string) => JSON.parse(await client.request({ method: "GET", path }));

test("logs of a pod on a real node come from its kubelet, which knows the server by its certificate", () =>
  withFakeKubelet(async ({ client }, _port, asked) => {
    const lines: string[] = [];
    for await (const line of client.logs("default/web", { tailLines: 5, timestamps: true })) lines.push(line);
    assert.deepEqual(lines, ["one", "two"]);
    const [first] = asked;
    assert.equal(first?.user, "kube-apiserver-kubelet-client");
    assert.equal(first.url, "/containerLogs/default/web/main?timestamps=true&tailLines=5");
  }));

test("errors of a kubelet are passed on unchanged, and an unreachable kubelet is an error", () =>
  withFakeKubelet(async ({ client }) => {
    const logs = async () => {
      for await (const _line of client.logs("default/late"));
    };
    const message = 'container "main" in pod "late" is waiting to start: ContainerCreating';
    await assert.rejects(logs(), { code: 400, message });
    const nowhere = { status: { daemonEndpoints: { kubeletEndpoint: { Port: 1 } } } };
    await client.patchStatus(Node, "real", { merge: nowhere });
    const get = 'Get "https://127.0.0.1:1/containerLogs/default/late/main"';
    await assert.rejects(logs(), { code: 500, message: `${get}: dial tcp 127.0.0.1:1: connect: connection refused` });
    const refused = "error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused";
    await assert.rejects(client.exec("default/web", ["ls"]), { code: 500, message: refused });
  }));

test("commands run through the kubelet, input and all, and a client that goes away breaks nothing", () =>
  withFakeKubelet(async (_cluster, port, asked) => {
    await using client = await administrator(port);
    const process = await client.exec("default/web", ["cat", "-"], { stdin: true });
    process.write("hello");
    process.end();
    assert.deepEqual(await process.output(), { code: 0, stdout: "hello", stderr: "" });
    assert.equal(asked[0]?.url, "/exec/default/web/main?input=1&output=1&error=1&command=cat&command=-");
    const another = await client.exec("default/web", ["cat"], { stdin: true });
    another.close();
    const attached = await client.attach("default/web");
    attached.close();
    assert.ok(asked.some(({ url }) => url.startsWith("/attach/default/web/main?")));
  }));

test("clients that speak SPDY are connected with the kubelet, which speaks it as well", () =>
  withFakeKubelet(async (_cluster, port, asked) => {
    const request = httpsRequest(`${port.url}/api/v1/namespaces/default/pods/web/exec?command=ls&stdout=true`, {
      method: "POST",
      ca: port.authority.cert,
      ...port.credential("kubernetes-admin", ["system:masters"]),
      headers: { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": "v4.channel.k8s.io" },
    });
    request.end();
    const [response, socket] = (await once(request, "upgrade")) as [IncomingMessage, Socket];
    assert.equal(response.headers["x-stream-protocol-version"], "v4.channel.k8s.io");
    assert.deepEqual(asked[0], {
      method: "POST",
      url: "/exec/default/web/main?output=1&command=ls",
      user: "kube-apiserver-kubelet-client",
    });
    socket.write("frames");
    const [bytes] = await once(socket, "data");
    assert.equal(String(bytes), "frames");
    socket.destroy();
  }));

test("kubectl top shows what kubelets measure", () =>
  withFakeKubelet(async (cluster) => {
    const nodes = await get(cluster, "/apis/metrics.k8s.io/v1beta1/nodes");
    assert.deepEqual(
      nodes.items.map(({ metadata, usage }: { metadata: { name: string }; usage: object }) => [metadata.name, usage]),
      [["real", { cpu: "250000000n", memory: "1Gi" }]],
    );
    const pod = await get(cluster, "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/web");
    assert.deepEqual(pod.metadata.labels, { app: "web" });
    assert.deepEqual(pod.containers, [{ name: "main", usage: { cpu: "5000000n", memory: "1Mi" } }]);
  }));

test("the proxy of a node leads to its kubelet", { skip }, () =>
  withFakeKubelet(async ({ client }, _port, asked) => {
    const path = "/api/v1/nodes/real/proxy/healthz?verbose=1";
    assert.equal(await client.request({ method: "GET", path }), "ok");
    assert.equal(asked[0]?.url, "/healthz?verbose=1");
  }, REACHABLE),
);

test("the proxy of a node passes on compressed responses as the kubelet sends them", { skip }, () =>
  withFakeKubelet(async (_cluster, port) => {
    const request = httpsRequest(`${port.url}/api/v1/nodes/real/proxy/metrics`, {
      ca: port.authority.cert,
      ...port.credential("kubernetes-admin", ["system:masters"]),
      headers: { "accept-encoding": "gzip" },
    });
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    assert.equal(response.headers["content-encoding"], "gzip");
    assert.equal(String(gunzipSync(Buffer.concat(await Array.fromAsync(response)))), "up 1\n");
  }, REACHABLE),
);

test("the proxy of a node whose kubelet is unreachable answers 503", { skip }, () =>
  withFakeKubelet(async ({ client: whole }, port) => {
    await whole.patchStatus(Node, "real", { merge: { status: { daemonEndpoints: { kubeletEndpoint: { Port: 1 } } } } });
    await using client = await administrator(port);
    const message = `error trying to reach service: dial tcp ${REACHABLE}:1: connect: connection refused`;
    const path = "/api/v1/nodes/real/proxy/healthz";
    await assert.rejects(client.request({ method: "GET", path }), { code: 503, message });
  }, REACHABLE),
);

test("proxies lead neither to this machine itself nor to its link, whatever an object says", () =>
  withFakeKubelet(async (_cluster, port) => {
    await using client = await administrator(port);
    const request = (path: string) => client.request({ method: "GET", path });
    await assert.rejects(request("/api/v1/nodes/real/proxy/healthz"), { code: 400, message: "address not allowed" });
    for (const podIP of ["127.0.0.1", "169.254.169.254", "0.0.0.0", "::1", "fe80::1", "224.0.0.1"]) {
      await client.patchStatus(Pod, "default/web", { merge: { status: { podIP, podIPs: [{ ip: podIP }] } } });
      const message = "error trying to reach service: address not allowed";
      await assert.rejects(request("/api/v1/namespaces/default/pods/web:80/proxy/"), { code: 503, message }, podIP);
    }
  }));

test("proxies of pods and Services reach pods of real nodes at their addresses", { skip }, () =>
  withFakeKubelet(async ({ client }) => {
    const server = createServer((request, response) => response.end(`${request.url} is here`));
    await new Promise<void>((resolve) => server.listen(0, REACHABLE, resolve));
    const { port } = server.address() as AddressInfo;
    const conditions = [{ type: "Ready", status: "True" }];
    const status = { podIP: REACHABLE, podIPs: [{ ip: REACHABLE! }], conditions };
    await client.patchStatus(Pod, "default/web", { merge: { status } } as never);
    const ports = [{ port: 80, targetPort: port }];
    await client.create(Service, { metadata: { name: "web" }, spec: { selector: { app: "web" }, ports } });
    for (const target of [`pods/web:${port}`, "services/web:80"]) {
      const path = `/api/v1/namespaces/default/${target}/proxy/page`;
      assert.equal(await client.request({ method: "GET", path }), "/page is here");
    }
    server.closeAllConnections();
    server.close();
  }),
);
