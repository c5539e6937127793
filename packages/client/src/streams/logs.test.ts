import assert from "node:assert/strict";
import { test } from "node:test";
import { failure, scripted, stream } from "../../test/scripted-server.ts";
import { Client } from "../client.ts";

test("lines come as they are written, empty ones and a last one without its end too", async () => {
  const { transport, requests } = scripted(stream(["one\n\ntw", Uint8Array.of(0xc3), Uint8Array.of(0xbc), "o\nlast"]));
  const lines: string[] = [];
  const options = { container: "main", follow: true, tailLines: 10, timestamps: true };
  for await (const line of new Client(transport).logs("prod/web", options)) lines.push(line);
  assert.deepEqual(lines, ["one", "", "twüo", "last"]);
  assert.equal(
    requests[0]!.path,
    "/api/v1/namespaces/prod/pods/web/log?container=main&follow=true&tailLines=10&timestamps=true",
  );
});

test("leaving the loop lets the connection go", async () => {
  const { transport, requests } = scripted(stream(["one\n", "two\n"], "silence"));
  for await (const line of new Client(transport).logs("web", { follow: true })) if (line === "two") break;
  assert.ok(requests[0]!.signal!.aborted);
});

test("a container that does not exist is the server's error", async () => {
  const { transport } = scripted(failure(400, "BadRequest", "container nope is not valid for pod web"));
  await assert.rejects(new Client(transport).logs("web", { container: "nope" }).next(), /container nope is not valid/);
});
