import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import type { TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";
import { createAuthority } from "@konverge/certificates";
import { type Cluster, type ClusterPort, startCluster } from "@konverge/cluster";
import { realClock, timestamp } from "@konverge/core";
import { Node, Pod } from "@konverge/kinds";
import { WebSocketServer } from "ws";

/** An address of this machine that others could reach, if it has one. */
export const REACHABLE = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

/** What a kubelet was asked, and by whom. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly user: string;
}

const SUMMARY = {
  node: { cpu: { usageNanoCores: 250_000_000 }, memory: { workingSetBytes: 1024 * 1024 * 1024 } },
  pods: [
    {
      podRef: { name: "web", namespace: "default" },
      containers: [{ name: "main", cpu: { usageNanoCores: 5_000_000 }, memory: { workingSetBytes: 1024 * 1024 } }],
    },
  ],
};

/** Runs a test on a cluster with a node `real`, whose kubelet is a server that answers as kubelets do, and its pod `web`. */
export async function withFakeKubelet(
  play: (cluster: Cluster, port: ClusterPort, asked: readonly Asked[]) => Promise<void>,
  host = "127.0.0.1",
): Promise<void> {
  await using cluster = await startCluster({ nodes: [] });
  await using port = await cluster.listen();
  const asked: Asked[] = [];
  // As most kubelets, it signs its own certificate.
  const own = createAuthority(realClock()).server("kubelet", [host]);
  const server = createServer({ ...own, ca: port.authority.cert, requestCert: true, rejectUnauthorized: true });
  const note = (method = "", url = "", socket: unknown) => {
    const { CN } = (socket as TLSSocket).getPeerCertificate().subject;
    asked.push({ method, url, user: String(CN) });
  };
  server.on("request", (request, response) => {
    note(request.method, request.url, request.socket);
    const path = request.url?.split("?")[0];
    if (path === "/containerLogs/default/web/main") return response.end("one\ntwo\n");
    if (path === "/stats/summary") return response.end(JSON.stringify(SUMMARY));
    if (path === "/healthz") return response.end("ok");
    if (path === "/metrics" && request.headers["accept-encoding"] === "gzip")
      return response.setHeader("content-encoding", "gzip").end(gzipSync("up 1\n"));
    response.statusCode = 400;
    return response.end('container "main" in pod "late" is waiting to start: ContainerCreating');
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    note(request.method, request.url, request.socket);
    if (request.headers.upgrade === "SPDY/3.1") {
      const version = request.headers["x-stream-protocol-version"];
      const lines = ["HTTP/1.1 101 Switching Protocols", "upgrade: SPDY/3.1", "connection: Upgrade"];
      socket.write([...lines, `x-stream-protocol-version: ${version}`, "", ""].join("\r\n"));
      socket.pipe(socket);
      return;
    }
    const offered = request.headers["sec-websocket-protocol"] ?? "";
    sockets.once("headers", (headers) => headers.push(`Sec-WebSocket-Protocol: ${offered.split(",")[0]}`));
    delete request.headers["sec-websocket-protocol"];
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      accepted.on("message", (data: Buffer) => {
        if (data[0] === 0) accepted.send(Buffer.concat([Uint8Array.of(1), data.subarray(1)]));
        if (data[0] === 255) {
          accepted.send(Buffer.from('\x03{"status":"Success"}'));
          accepted.close(1000);
        }
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  try {
    await register(cluster, host, (server.address() as AddressInfo).port);
    await play(cluster, port, asked);
  } finally {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  }
}

async function register({ client, clock }: Cluster, address: string, Port: number): Promise<void> {
  const now = timestamp(clock);
  const capacity = { cpu: "2", memory: "4Gi", pods: "110" };
  const status = {
    capacity,
    allocatable: capacity,
    addresses: [{ type: "InternalIP", address }],
    conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: now, lastTransitionTime: now }],
    daemonEndpoints: { kubeletEndpoint: { Port } },
    nodeInfo: { containerRuntimeVersion: "containerd://2.2.1" },
  };
  await client.create(Node, { metadata: { name: "real" }, status } as never);
  for (const name of ["web", "late"]) {
    const containers = [{ name: "main", image: "web", ports: [{ containerPort: 8080 }] }];
    const labels = { app: name };
    await client.create(Pod, { metadata: { name, labels }, spec: { nodeName: "real", containers } });
  }
}
