import assert from "node:assert/strict";
import { test } from "node:test";
import type { Image } from "@konverge/cluster";
import { Pod, Service } from "@konverge/kinds";
import { type ProgramStage, programStage, until, webProgram } from "./program-stage.ts";

/** Answers over HTTP, and listens for port 80 of its pod. */
const web = webProgram(async (incoming, response) => {
  let body = "";
  for await (const chunk of incoming) body += chunk;
  response.setHeader("x-seen", String(incoming.headers.authorization ?? "no authorization"));
  response.statusCode = incoming.url === "/teapot" ? 418 : 200;
  response.end(`${incoming.method} ${incoming.url} ${body.length}`);
});

/** Sends back what comes, in capitals. */
const shout: Image = {
  async connect({ incoming, write }) {
    for await (const chunk of incoming) write(Buffer.from(chunk).toString().toUpperCase());
  },
};

async function stageWithPods(): Promise<ProgramStage> {
  const stage = await programStage({ "example/web": { run: web }, "example/shout": shout });
  const ports = [{ name: "http", containerPort: 80 }];
  await stage.pod("web", { containers: [{ name: "main", image: "example/web", ports }] }, { app: "web" });
  await stage.pod("shout", { containers: [{ name: "main", image: "example/shout" }] });
  await stage.pod("mute", { containers: [{ name: "main", image: "example/unknown" }] }, { app: "mute" });
  for (const name of ["web", "shout", "mute"]) {
    await until(`${name} is ready`, async () =>
      (await stage.get(name)).status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"),
    );
  }
  return stage;
}

async function textOf(readable: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readable) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test("ports are forwarded to programs and to scripted handlers, several connections at a time", async () => {
  await using stage = await stageWithPods();
  await using forward = await stage.client.portForward("default/web");
  const [one, two] = [forward.connect(80), forward.connect(80)];
  const body = "x".repeat(100_000);
  one.write(Buffer.from("GET /a HTTP/1.1\r\nhost: web\r\nconnection: close\r\n\r\n"));
  two.write(
    Buffer.from(`POST /b HTTP/1.1\r\nhost: web\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
  );
  assert.match(await textOf(two.readable), /POST \/b 100000$/);
  assert.match(await textOf(one.readable), /GET \/a 0$/);
  await using shouting = await stage.client.portForward("default/shout");
  const said = shouting.connect(1234);
  said.write(Buffer.from("hello"));
  said.end();
  assert.equal(await textOf(said.readable), "HELLO");
});

test("a connection to a port on which nothing listens is refused, as in a real pod", async () => {
  await using stage = await stageWithPods();
  for (const [name, port] of [
    ["mute", 80],
    ["web", 81],
  ] as const) {
    await using forward = await stage.client.portForward(`default/${name}`);
    await assert.rejects(textOf(forward.connect(port).readable), /connect: connection refused/);
  }
});

test("requests are passed on to pods and to Services, and failures are reported", async () => {
  await using stage = await stageWithPods();
  const { client } = stage;
  const service = (name: string, app: string) =>
    client.create(Service, {
      metadata: { name, namespace: "default" },
      spec: { selector: { app }, ports: [{ name: "main", port: 8080, targetPort: app === "web" ? "http" : 80 }] },
    });
  await service("web", "web");
  await service("mute", "mute");
  await service("nobody", "nobody");
  const ask = (path: string, method = "GET", body?: unknown) =>
    client.request({ method, path: `/api/v1/namespaces/default/${path}`, ...(body !== undefined && { body }) });
  assert.equal(await ask("pods/web:80/proxy/deep/path?x=1"), "GET /deep/path?x=1 0");
  assert.equal(await ask("pods/web/proxy/"), "GET / 0");
  assert.equal(await ask("services/web:main/proxy/status"), "GET /status 0");
  assert.equal(await ask("services/http:web:8080/proxy/x", "POST", { a: 1 }), "POST /x 7");
  await assert.rejects(ask("pods/web:80/proxy/teapot"), (error: { code?: number }) => error.code === 418);
  await assert.rejects(ask("pods/mute:80/proxy/"), /error trying to reach service: dial tcp [\d.]+:80: .*refused/);
  await assert.rejects(ask("services/mute:8080/proxy/"), /connection refused/);
  await assert.rejects(ask("services/nobody:8080/proxy/"), /no endpoints available for service "nobody"/);
  await assert.rejects(ask("services/none:80/proxy/"), /services "none" not found/);
  await assert.rejects(ask("services/web:99/proxy/"), /no service port "99" found for service "web"/);
  await assert.rejects(ask("services/ftp:web:8080/proxy/"), /invalid service request "ftp:web:8080"/);
});

test("a user without permission for a proxy is refused before the request is passed on", async () => {
  await using stage = await stageWithPods();
  const stranger = stage.client.as({ user: "stranger", groups: ["system:authenticated"] } as never);
  await assert.rejects(
    stranger.request({ method: "GET", path: "/api/v1/namespaces/default/pods/web:80/proxy/" }),
    /cannot get resource "pods\/proxy" in API group "" in the namespace "default"/,
  );
  await stage.client.delete(Pod, "default/web");
});
