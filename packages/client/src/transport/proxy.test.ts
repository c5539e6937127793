import assert from "node:assert/strict";
import { connect as connectTcp, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { WebSocketServer } from "ws";
import { answer, loopbackServer } from "../../test/loopback-server.ts";
import { Widget, widget } from "../../test/scripted-server.ts";
import { connect } from "../connect.ts";
import { TransportError } from "../errors.ts";
import { proxyFor } from "./proxy.ts";

const environment = {
  HTTPS_PROXY: "http://proxy:3128",
  http_proxy: "plain:80",
  NO_PROXY: "internal, .corp.example, 10.0.0.0/8,fd00::/8, special:8443",
};

test("the environment says which servers are reached through a proxy", () => {
  const through = (server: string, configured?: string) => proxyFor(new URL(server), configured, environment)?.host;
  assert.equal(through("https://cluster.example:6443"), "proxy:3128");
  assert.equal(through("http://cluster.example"), "plain");
  assert.equal(through("https://internal"), undefined);
  assert.equal(through("https://api.internal"), undefined);
  assert.equal(through("https://notinternal"), "proxy:3128");
  assert.equal(through("https://a.corp.example"), undefined);
  assert.equal(through("https://corp.example"), "proxy:3128");
  assert.equal(through("https://10.1.2.3:6443"), undefined);
  assert.equal(through("https://11.1.2.3:6443"), "proxy:3128");
  assert.equal(through("https://[fd00::7]:6443"), undefined);
  assert.equal(through("https://special:8443"), undefined);
  assert.equal(through("https://special"), "proxy:3128");
  assert.equal(through("https://127.0.0.1:6443"), undefined);
  assert.equal(through("https://localhost:6443"), undefined);
  assert.equal(through("https://internal", "socks5://mine:1080"), "mine:1080");
  assert.equal(proxyFor(new URL("https://x"), undefined, { ...environment, NO_PROXY: "*" }), undefined);
});

test("a proxy of a kind that cannot be used is refused", () => {
  assert.throws(() => proxyFor(new URL("https://x"), "ftp://proxy", {}), /expected an http, https or socks5 URL/);
});

/** A proxy on a loopback port; `greet` reads the request and says where to go. */
async function proxy(greet: (socket: Socket) => Promise<number | undefined>) {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    void greet(socket).then((port) => {
      if (port === undefined) return socket.end();
      const onward = connectTcp(port, "127.0.0.1");
      onward.on("error", () => socket.destroy());
      socket.pipe(onward).pipe(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { port, [Symbol.dispose]: () => void server.close() };
}

async function read(socket: Socket, length: number): Promise<Buffer> {
  for (;;) {
    const bytes = socket.read(length) as Buffer | null;
    if (bytes) return bytes;
    await new Promise((resolve) => socket.once("readable", resolve));
  }
}

const asked: string[] = [];

function httpProxy(status = "200 Connection established") {
  return proxy(async (socket) => {
    let head = "";
    while (!head.endsWith("\r\n\r\n")) head += (await read(socket, 1)).toString("latin1");
    asked.push(
      head
        .split("\r\n")
        .filter((line) => !line.startsWith("Host"))
        .join("|"),
    );
    socket.write(`HTTP/1.1 ${status}\r\nX-Proxy: yes\r\n\r\n`);
    return status.startsWith("200") ? Number(/:([0-9]+) HTTP/.exec(head)![1]) : undefined;
  });
}

function socksProxy(login: string) {
  return proxy(async (socket) => {
    const [, methods] = await read(socket, 2);
    await read(socket, methods!);
    socket.write(Uint8Array.of(5, 2));
    const [, userLength] = await read(socket, 2);
    const user = await read(socket, userLength!);
    const [passwordLength] = await read(socket, 1);
    const password = await read(socket, passwordLength!);
    const good = `${user}:${password}` === login;
    socket.write(Uint8Array.of(1, good ? 0 : 1));
    if (!good) return undefined;
    const head = await read(socket, 5);
    const host = await read(socket, head[4]!);
    const port = (await read(socket, 2)).readUInt16BE();
    asked.push(`socks ${host}:${port}`);
    socket.write(Uint8Array.of(5, 0, 0, 1, 127, 0, 0, 1, 0, 0));
    return port;
  });
}

test("calls and message streams go through an HTTP proxy", async () => {
  asked.length = 0;
  await using server = await loopbackServer((_request, response) => answer(response, widget("a", "1")));
  const sockets = new WebSocketServer({ server: server.http, handleProtocols: () => "v5.channel.k8s.io" });
  sockets.on("connection", (socket) => {
    socket.send(Buffer.from("\x01hi"));
    socket.send(Buffer.from('\x03{"status":"Success"}'), () => socket.close(1000));
  });
  using through = await httpProxy();
  await using client = await connect({
    config: { server: server.url, proxyUrl: `http://me:p%40ss@127.0.0.1:${through.port}` },
  });
  assert.equal((await client.get(Widget, "a")).metadata.name, "a");
  const process = await client.exec("web", ["ls"]);
  assert.equal((await process.output()).stdout, "hi");
  const login = Buffer.from("me:p@ss").toString("base64");
  const line = `CONNECT 127.0.0.1:${server.port} HTTP/1.1|Proxy-Authorization: Basic ${login}||`;
  assert.deepEqual(asked, [line, line]);
  sockets.close();
});

test("a proxy that refuses is named, and the outcome is known", async () => {
  using through = await httpProxy("407 Proxy Authentication Required");
  await using client = await connect({
    config: { server: "http://127.0.0.1:1", proxyUrl: `http://127.0.0.1:${through.port}` },
    retry: false,
  });
  await assert.rejects(client.create(Widget, { metadata: { name: "a" } }), (error: unknown) => {
    assert.ok(error instanceof TransportError && error.code === "unreachable" && !error.unknownOutcome);
    assert.match(error.message, /the proxy 127.0.0.1:[0-9]+ refused the connection: 407 Proxy Authentication Required/);
    return true;
  });
  await assert.rejects(
    client.exec("web", ["ls"]),
    (error: unknown) => error instanceof TransportError && error.code === "unreachable" && !error.unknownOutcome,
  );
});

test("calls go through a SOCKS proxy, with its login", async () => {
  asked.length = 0;
  await using server = await loopbackServer((_request, response) => answer(response, widget("a", "1")));
  using through = await socksProxy("me:pw");
  const config = (login: string) => ({ server: server.url, proxyUrl: `socks5://${login}@127.0.0.1:${through.port}` });
  await using client = await connect({ config: config("me:pw") });
  assert.equal((await client.get(Widget, "a")).metadata.name, "a");
  assert.deepEqual(asked, [`socks 127.0.0.1:${server.port}`]);
  await using wrong = await connect({ config: config("me:nope"), retry: false });
  await assert.rejects(wrong.get(Widget, "a"), /rejects the credentials/);
});
