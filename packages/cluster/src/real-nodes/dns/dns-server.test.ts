import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { EndpointSlice, Service } from "@konverge/kinds";
import { decode, encode, type Packet } from "dns-packet";
import { type Cluster, startCluster } from "../../start-cluster.ts";
import { ClusterNames } from "../../streams/cluster-names.ts";
import { ServiceDirectory } from "../../streams/service-directory.ts";
import { storedServices } from "../../streams/service-source.ts";
import { DnsServer } from "./dns-server.ts";
import { framed } from "./forward.ts";

let cluster: Cluster;
let server: DnsServer;
const resolver = new Resolver();
const forwarded: string[] = [];

before(async () => {
  cluster = await startCluster({ nodes: [] });
  const names = new ClusterNames(new ServiceDirectory(storedServices(cluster.server.store)));
  // Stands for the machine's name servers: they know one host.
  server = await DnsServer.listen("127.0.0.1", names, async (message) => {
    const { id, questions = [] } = decode(message);
    const [{ name, type }] = questions as [{ name: string; type: "A" }];
    forwarded.push(`${name} ${type}`);
    if (name !== "example.com") return undefined;
    const answers = type === "A" ? [{ name, type, data: "192.0.2.7" }] : [];
    return Buffer.from(encode({ type: "response", id, questions, answers }));
  });
  resolver.setServers([`127.0.0.1:${server.port}`]);
  const { client } = cluster;
  const ports = [{ name: "http", port: 80 }];
  const own = (name: string) => ({ name, namespace: "default" });
  await client.create(Service, { metadata: own("web"), spec: { clusterIP: "10.96.7.7", ports } });
  await client.create(Service, { metadata: own("db"), spec: { clusterIP: "None", ports } });
  await client.create(EndpointSlice, {
    metadata: { ...own("db-1"), labels: { "kubernetes.io/service-name": "db" } },
    addressType: "IPv4",
    endpoints: [
      { addresses: ["10.202.0.5"], hostname: "db-0", conditions: { ready: true } },
      { addresses: ["10.202.1.5"], hostname: "db-1", conditions: { ready: true } },
    ],
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
  });
  await client.create(Service, { metadata: own("out"), spec: { type: "ExternalName", externalName: "example.com" } });
});

after(async () => {
  await server.close();
  await cluster.stop();
});

const full = (name: string) => `${name}.default.svc.cluster.local`;

test("Services, headless ones and their hosts have addresses", async () => {
  assert.deepEqual(await resolver.resolve4(full("web")), ["10.96.7.7"]);
  assert.deepEqual((await resolver.resolve4(full("db"))).sort(), ["10.202.0.5", "10.202.1.5"]);
  assert.deepEqual(await resolver.resolve4(full("db-1.db")), ["10.202.1.5"]);
  assert.deepEqual(await resolver.resolve4("10-202-0-9.default.pod.cluster.local"), ["10.202.0.9"]);
});

test("a port is found by its name, and a Service by its address", async () => {
  const found = await resolver.resolveSrv(`_http._tcp.${full("db")}`);
  assert.deepEqual(found.map(({ name, port }) => `${name}:${port}`).sort(), [
    `${full("db-0.db")}:8080`,
    `${full("db-1.db")}:8080`,
  ]);
  assert.deepEqual(await resolver.reverse("10.96.7.7"), [full("web")]);
});

test("a name without records of a type is distinguished from one that does not exist", async () => {
  await assert.rejects(resolver.resolve6(full("web")), { code: "ENODATA" });
  await assert.rejects(resolver.resolve4(full("nothing")), { code: "ENOTFOUND" });
});

test("other names are answered by the machine's name servers, also behind an ExternalName", async () => {
  assert.deepEqual(await resolver.resolve4("example.com"), ["192.0.2.7"]);
  assert.deepEqual(await resolver.resolve4(full("out")), ["192.0.2.7"]);
  await assert.rejects(resolver.resolve4("unknown.example.com"), { code: "ESERVFAIL" });
  assert.ok(!forwarded.some((one) => one.includes("cluster.local")), "what is the cluster's own stays in it");
});

test("an answer that is too long for UDP is truncated, and whole over TCP", async () => {
  const endpoints = Array.from({ length: 60 }, (_, index) => ({ addresses: [`10.202.9.${index + 1}`] }));
  const metadata = { name: "many", namespace: "default" };
  await cluster.client.create(Service, { metadata, spec: { clusterIP: "None", ports: [{ port: 80 }] } });
  await cluster.client.create(EndpointSlice, {
    metadata: { ...metadata, labels: { "kubernetes.io/service-name": "many" } },
    addressType: "IPv4",
    endpoints,
    ports: [{ port: 80 }],
  });
  const question = { type: "A" as const, name: full("many") };
  const message = Buffer.from(encode({ type: "query", id: 7, questions: [question] }));
  const overUdp = await askUdp(message);
  assert.equal(overUdp.id, 7);
  assert.ok((overUdp as { flag_tc?: boolean }).flag_tc);
  assert.equal((await askTcp(message)).answers?.length, 60);
});

test("what is no question does not stop it", async () => {
  const answer = await askUdp(Buffer.from([0, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 63]));
  assert.equal((answer as { rcode?: string }).rcode, "FORMERR");
  assert.deepEqual(await resolver.resolve4(full("web")), ["10.96.7.7"]);
});

async function askUdp(message: Buffer): Promise<Packet> {
  const socket = createSocket("udp4");
  socket.send(message, server.port, "127.0.0.1");
  const [answer] = (await once(socket, "message")) as [Buffer];
  socket.close();
  return decode(answer);
}

async function askTcp(message: Buffer): Promise<Packet> {
  const socket = connect(server.port, "127.0.0.1");
  // In two parts, as it may arrive.
  const whole = framed(message);
  socket.write(whole.subarray(0, 5));
  socket.write(whole.subarray(5));
  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk as Buffer]);
    if (received.length >= 2 && received.length >= 2 + received.readUInt16BE()) break;
  }
  return decode(received.subarray(2));
}
