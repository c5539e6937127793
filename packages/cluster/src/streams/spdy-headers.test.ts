import assert from "node:assert/strict";
import { test } from "node:test";
import { SpdyWriter } from "@konverge/core";
import { GoClient } from "../../test/streams/go-client.ts";
import { framesOf, SpdyHeaders } from "./spdy-headers.ts";

async function* chopped(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test("the dictionary is the one that all of SPDY/3 agrees on", async () => {
  const frame = await new GoClient().open(1, { a: "b" });
  // Behind zlib's header is the checksum of the dictionary.
  assert.equal(frame.subarray(20, 24).toString("hex"), "e3c6a7c2");
});

const [goClient, writer] = [new GoClient(), new SpdyWriter()];

for (const [title, opener] of [
  ["compressed", goClient],
  ["stored", writer],
] as const) {
  test(`${title} headers are read, however the bytes are chopped`, async () => {
    const frames = new SpdyWriter();
    const sent = new Uint8Array(
      Buffer.concat([
        await opener.open(1, { streamtype: "error", port: "80", requestid: "0" }),
        await opener.open(3, { streamtype: "data", port: "80", requestid: "0" }),
        frames.data(3, Buffer.from("hello"), true),
        frames.ping(7),
      ]),
    );
    const headers = (streamtype: string) => new Map(Object.entries({ streamtype, port: "80", requestid: "0" }));
    for (const size of [1, 7, 1000]) {
      const bytes = new TextEncoder().encode("hello");
      assert.deepEqual(await Array.fromAsync(framesOf(chopped(sent, size))), [
        { type: "open", stream: 1, headers: headers("error") },
        { type: "open", stream: 3, headers: headers("data") },
        { type: "data", stream: 3, fin: true, data: bytes },
        { type: "ping", id: 7 },
      ]);
    }
  });
}

test("headers that cannot be decompressed are an error of that stream, not of the process", async () => {
  await assert.rejects(new SpdyHeaders().read(Buffer.from("not compressed at all")), { code: "Z_DATA_ERROR" });
});
