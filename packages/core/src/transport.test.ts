import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type ApiRequest, headerOf, headerValues, readLines, readText, type Transport, toFetch } from "./transport.ts";

const encoder = new TextEncoder();

async function* stream<T>(chunks: readonly T[]): AsyncGenerator<T, void, void> {
  yield* chunks;
}

/** The bytes of a text, cut wherever, also within a character. */
const cutText = fc
  .tuple(fc.string({ unit: fc.constantFrom("a", "\n", "é", "模", "🚀", "{", "}") }), fc.array(fc.nat({ max: 7 })))
  .map(([text, sizes]) => {
    const bytes = encoder.encode(text);
    const chunks: Uint8Array[] = [];
    let start = 0;
    for (const size of sizes) {
      chunks.push(bytes.slice(start, start + size));
      start += size;
    }
    return { text, chunks: [...chunks, bytes.slice(start)] };
  });

test("a body is the same text whole or in pieces, wherever it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(cutText, async ({ text, chunks }) => {
      assert.equal(await readText(text), text);
      assert.equal(await readText(encoder.encode(text)), text);
      assert.equal(await readText(stream(chunks)), text);
    }),
  );
});

test("lines come out whole, wherever the body is cut; empty ones are left out", async () => {
  await fc.assert(
    fc.asyncProperty(cutText, async ({ text, chunks }) => {
      const lines = text.split("\n").filter((line) => line !== "");
      assert.deepEqual(await Array.fromAsync(readLines(text)), lines);
      assert.deepEqual(await Array.fromAsync(readLines(stream(chunks))), lines);
    }),
  );
});

test("a body cut short within a character shows that", async () => {
  const bytes = encoder.encode("a\né").slice(0, -1);
  assert.equal(await readText(stream([bytes])), "a\n\ufffd");
  assert.deepEqual(await Array.fromAsync(readLines(stream([bytes]))), ["a", "\ufffd"]);
});

test("a line is given as soon as it is complete", async () => {
  const observed: string[] = [];
  async function* body() {
    yield "one\ntw";
    observed.push("asked for more");
    yield "o\n";
  }
  const lines = readLines(body());
  assert.equal((await lines.next()).value, "one");
  assert.deepEqual(observed, []);
  assert.equal((await lines.next()).value, "two");
});

test("who stops reading lines closes the body", async () => {
  let isClosed = false;
  async function* body() {
    try {
      yield "a\nb\n";
    } finally {
      isClosed = true;
    }
  }
  for await (const _ of readLines(body())) break;
  assert.ok(isClosed);
});

test("headers have one value or many", () => {
  const headers = { one: "1", many: ["a", "b"] };
  assert.equal(headerOf(headers, "one"), "1");
  assert.equal(headerOf(headers, "many"), "a");
  assert.equal(headerOf(headers, "none"), undefined);
  assert.deepEqual(headerValues(headers, "one"), ["1"]);
  assert.deepEqual(headerValues(headers, "many"), ["a", "b"]);
  assert.deepEqual(headerValues(headers, "none"), []);
});

test("a transport serves as a standard fetch", async () => {
  const requests: ApiRequest[] = [];
  const transport: Transport = async (request) => {
    requests.push(request);
    return {
      status: 201,
      headers: { "content-type": "text/plain", warning: ["1", "2"] },
      body: stream(["a", encoder.encode("b")]),
    };
  };
  const response = await toFetch(transport)("http://server/api/v1/pods?limit=5", {
    method: "POST",
    headers: { "X-Test": "1" },
    body: "hello",
  });
  assert.equal(response.status, 201);
  assert.equal(response.headers.get("warning"), "1, 2");
  assert.equal(await response.text(), "ab");
  const [request] = requests;
  assert.equal(request?.method, "POST");
  assert.equal(request?.path, "/api/v1/pods?limit=5");
  assert.equal(headerOf(request?.headers ?? {}, "x-test"), "1");
  assert.equal(await readText(request?.body ?? ""), "hello");
});

test("a fetch whose answer has no body, whose body is cancelled or breaks", async () => {
  const answering = (status: number, body: string | AsyncIterable<string>) =>
    toFetch(async () => ({ status, headers: {}, body }))("http://server/");
  assert.equal((await answering(204, "")).body, null);
  let isClosed = false;
  async function* endless() {
    try {
      for (;;) yield "x";
    } finally {
      isClosed = true;
    }
  }
  await (await answering(200, endless())).body?.cancel();
  assert.ok(isClosed);
  // biome-ignore lint/correctness/useYield: it breaks before the first chunk.
  async function* broken(): AsyncGenerator<string> {
    throw new Error("reset");
  }
  await assert.rejects((await answering(200, broken())).text(), /reset/);
});

test("aborting a fetch reaches the transport", async () => {
  const controller = new AbortController();
  const transport: Transport = ({ signal }) =>
    new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  const answer = toFetch(transport)("http://server/", { signal: controller.signal });
  queueMicrotask(() => controller.abort(new Error("enough")));
  await assert.rejects(answer, /enough/);
});
