import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, realClock, SpdyWriter } from "@konverge/core";
import { type WebSocket, WebSocketServer } from "ws";
import { answer, type LoopbackServer, loopbackServer } from "../../test/loopback-server.ts";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import { TransportError } from "../errors.ts";
import { socketTransport } from "../socket-transport.ts";
import { collectText } from "../streams/byte-queue.ts";

/** Runs a test with a client of a server that takes message streams. */
async function between(
  serve: (socket: WebSocket, url: string) => void,
  run: (client: Client, server: LoopbackServer) => Promise<void>,
  protocols = ["v5.channel.k8s.io"],
): Promise<void> {
  await using server = await loopbackServer((_request, response) => answer(response, {}, 404));
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => protocols.find((protocol) => offered.has(protocol)) ?? false,
  });
  server.http.on("upgrade", (request, socket, head) => {
    if (request.headers.authorization !== "Bearer t") {
      const body = JSON.stringify({ kind: "Status", code: 403, reason: "Forbidden", message: "exec is forbidden" });
      socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (accepted) => serve(accepted, request.url ?? ""));
  });
  const token = { token: { value: "t" } };
  await using client = await connect({ config: { server: server.url, credentials: token } });
  await run(client, server);
  for (const socket of sockets.clients) socket.terminate();
}

test("a command runs over a WebSocket, input and all", async () => {
  await between(
    (socket, url) => {
      assert.equal(url, "/api/v1/namespaces/default/pods/web/exec?command=cat&stdin=true&stdout=true&stderr=true");
      socket.on("message", (data: Buffer) => {
        if (data[0] === 0) socket.send(Buffer.concat([Uint8Array.of(1), data.subarray(1)]));
        if (data[0] === 255) {
          socket.send(Buffer.from('\x03{"status":"Success"}'));
          socket.close(1000);
        }
      });
    },
    async (client) => {
      const process = await client.exec("web", ["cat"], { stdin: true });
      process.write("héllo");
      process.end();
      assert.deepEqual(await process.output(), { code: 0, stdout: "héllo", stderr: "" });
    },
  );
});

test("an older server is spoken to in its version", async () => {
  await between(
    (socket) => {
      socket.send(Buffer.from('\x03{"status":"Success"}'));
      socket.close(1000);
    },
    async (client) => assert.equal(await (await client.attach("web")).exitCode, 0),
    ["v4.channel.k8s.io"],
  );
});

test("a refusal is the server's error", async () => {
  await between(
    () => {},
    async (_client, server) => {
      await using stranger = await connect({ config: { server: server.url } });
      await assert.rejects(
        stranger.exec("web", ["ls"]),
        (error: unknown) => error instanceof ApiError && error.code === 403 && error.message === "exec is forbidden",
      );
    },
  );
});

test("a stream that is cut off is a typed error", async () => {
  await between(
    (socket) => {
      socket.send(Buffer.from("\x01half"), () => socket.terminate());
    },
    async (client) => {
      const process = await client.exec("web", ["ls"]);
      await assert.rejects(
        process.exitCode,
        (error: unknown) => error instanceof TransportError && error.code === "closed",
      );
    },
  );
});

test("a protocol whose name no standard allows is spoken all the same", async () => {
  await using server = await loopbackServer(() => {});
  const name = "SPDY/3.1+portforward.k8s.io";
  const sockets = new WebSocketServer({ noServer: true });
  sockets.on("headers", (headers) => headers.push(`Sec-WebSocket-Protocol: ${name}`));
  server.http.on("upgrade", (request, socket, head) => {
    assert.equal(request.headers["sec-websocket-protocol"], name);
    // This server's library would not hear of it either.
    delete request.headers["sec-websocket-protocol"];
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      accepted.send(new SpdyWriter().data(3, Buffer.from("hello"), true));
    });
  });
  await using client = await connect({ config: { server: server.url } });
  await using forward = await client.portForward("web");
  assert.equal(await collectText(forward.connect(80).readable), "hello");
  for (const socket of sockets.clients) socket.terminate();
});

test("a server that is not there, or does not speak the protocol, is a typed error", async () => {
  const closed = await loopbackServer(() => {});
  await closed[Symbol.asyncDispose]();
  await using client = await connect({ config: { server: closed.url } });
  await assert.rejects(
    client.exec("web", ["ls"]),
    (error: unknown) => error instanceof TransportError && error.code === "unreachable",
  );
  await between(
    () => {},
    async (other) => {
      await assert.rejects(
        other.exec("web", ["ls"]),
        (error: unknown) => error instanceof TransportError && error.code === "malformed",
      );
    },
    [],
  );
});

test("codes that only describe the end of a connection close it without being sent", async () => {
  for (const code of [1005, 1006]) {
    const ended = Promise.withResolvers<number>();
    await between(
      (socket) => socket.on("close", (received) => ended.resolve(received)),
      async (_client, server) => {
        const token = { token: { value: "t" } };
        const { transport, close } = socketTransport(
          { server: server.url, credentials: token },
          { clock: realClock() },
        );
        const { socket } = await transport({ method: "GET", path: "/", headers: {}, upgrade: ["v5.channel.k8s.io"] });
        socket!.close(code, "");
        assert.equal(await ended.promise, code);
        await close();
      },
    );
  }
});
