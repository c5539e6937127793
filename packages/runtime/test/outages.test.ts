import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiServer } from "@konverge/apiserver";
import { Client } from "@konverge/client";
import type { ApiResponse, Transport } from "@konverge/core";
import { ConfigMap } from "@konverge/kinds";
import { controller } from "@konverge/runtime";
import { configMap, type Stage, stage, Widget } from "./stage.ts";

/** A ConfigMap of the same name and text for each Widget, and the text in the status. */
const copies = (more: object = {}) =>
  controller(Widget, {
    name: "copies",
    owns: [ConfigMap],
    reconcile: ({ metadata, spec }) => ({
      children: [configMap(metadata.name, { text: spec.text })],
      status: { text: spec.text },
    }),
    ...more,
  });

/** Every Widget has its copy and says so, and there is no other. */
async function assertConverged(user: Client, count: number): Promise<void> {
  const texts = (list: readonly { metadata: { name: string } }[], of: (one: never) => string | undefined) =>
    list.map((one) => `${one.metadata.name} ${of(one as never)}`).sort();
  const widgets = (await user.list(Widget, { namespace: "default" })).items;
  const maps = (await user.list(ConfigMap, { namespace: "default" })).items;
  assert.equal(widgets.length, count);
  const wanted = texts(widgets, ({ spec }: Widget) => spec.text);
  assert.deepEqual(
    texts(widgets, ({ status }: Widget) => status?.text),
    wanted,
  );
  assert.deepEqual(
    texts(
      maps.filter(({ metadata }) => metadata.name.startsWith("w")),
      ({ data }: ConfigMap) => data?.["text"],
    ),
    wanted,
  );
}

/**
 * A network that can be cut: what is in progress then never arrives, and open connections stay silent forever, without
 * breaking.
 */
class Network {
  #cut = Promise.withResolvers<never>();
  isCut = false;

  cut(): void {
    this.isCut = true;
    this.#cut = Promise.withResolvers<never>();
  }

  restore(): void {
    this.isCut = false;
  }

  readonly pass = async (request: Parameters<Transport>[0], next: Transport): Promise<ApiResponse> => {
    const never = this.#cut.promise;
    if (this.isCut) return await never;
    const response = await next(request);
    if (this.isCut) return await never;
    if (typeof response.body === "string") return response;
    return { ...response, body: this.#silenced(response.body as AsyncIterable<string | Uint8Array>) };
  };

  async *#silenced(body: AsyncIterable<string | Uint8Array>): AsyncIterable<string | Uint8Array> {
    const end = Promise.withResolvers<void>();
    const cuts = this.#cut;
    for await (const chunk of body) {
      // A connection that was cut off receives nothing more.
      if (this.isCut || cuts !== this.#cut) await end.promise;
      yield chunk;
    }
  }
}

/** Changes of all kinds, without events to the operator. */
async function upheaval(s: Stage): Promise<void> {
  await s.user.delete(ConfigMap, "default/w0");
  await s.user.patch(ConfigMap, "default/w1", { merge: { data: { text: "spoilt" } } });
  await s.user.delete(Widget, "default/w2");
  await s.user.delete(ConfigMap, "default/w2");
  await s.user.patch(Widget, "default/w3", { merge: { spec: { text: "2" } } });
  await s.widget("w9", { text: "new" });
}

async function settled(count = 5): Promise<{ s: Stage; network: Network }> {
  const s = await stage();
  const network = new Network();
  s.interfere = network.pass;
  await s.run(copies());
  for (let i = 0; i < count; i++) await s.widget(`w${i}`, { text: "1" });
  await s.clock.advance(5_000);
  await assertConverged(s.user, count);
  return { s, network };
}

test("after its network was cut for a minute an operator has caught up with all that happened", async () => {
  const { s, network } = await settled();
  network.cut();
  await upheaval(s);
  await s.clock.advance(60_000);
  network.restore();
  await s.clock.advance(10 * 60_000);
  await assertConverged(s.user, 5);
});

test("it lists again when the server has forgotten where its watches were", async () => {
  const { s, network } = await settled();
  network.cut();
  await upheaval(s);
  await s.clock.advance(1_000);
  s.server.store.compact(s.clock.now());
  network.restore();
  s.requests.length = 0;
  await s.clock.advance(10 * 60_000);
  await assertConverged(s.user, 5);
});

/** What is read until the other side goes away; then the connection breaks. */
async function* until(gone: Promise<never>, body: AsyncIterable<string | Uint8Array>) {
  const chunks = body[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([chunks.next(), gone]);
    if (next.done) return;
    yield next.value;
  }
}

test("it survives an API server that stops and starts again with the stored state", async () => {
  const s = await stage();
  let server: ApiServer | undefined = s.server;
  let gone = Promise.withResolvers<never>();
  s.interfere = async (request) => {
    if (!server) throw new Error("connect ECONNREFUSED");
    const response = await server.transport(request);
    if (typeof response.body === "string") return response;
    return { ...response, body: until(gone.promise, response.body as AsyncIterable<string | Uint8Array>) };
  };
  await s.run(copies());
  for (let i = 0; i < 5; i++) await s.widget(`w${i}`, { text: "1" });
  await s.clock.advance(5_000);
  for (let round = 2; round < 5; round++) {
    const state = server.store.snapshot();
    server.close();
    server = undefined;
    gone.promise.catch(() => {});
    gone.reject(new Error("read ECONNRESET"));
    await s.clock.advance(20_000);
    gone = Promise.withResolvers<never>();
    server = new ApiServer({ clock: s.clock, state });
    const user = new Client(server.transport, { clock: s.clock });
    for (let i = 0; i < 5; i++) {
      await user.patch(Widget, `default/w${i}`, { merge: { spec: { text: String(round) } } });
    }
    await s.clock.advance(5 * 60_000);
    await assertConverged(user, 5);
  }
});

test("a hot key takes no more than its share, and ends in its last state", async () => {
  const s = await stage();
  const seen = new Map<string, number>();
  await s.run(
    copies({
      concurrency: 2,
      async reconcile({ metadata, spec }: Widget) {
        seen.set(metadata.name, (seen.get(metadata.name) ?? 0) + 1);
        return { children: [configMap(metadata.name, { text: spec.text })], status: { text: spec.text } };
      },
    }),
  );
  await s.widget("w-hot", { text: "0" });
  for (let i = 0; i < 10; i++) await s.widget(`w${i}`, { text: "1" });
  for (let i = 1; i <= 60; i++) {
    await s.user.patch(Widget, "default/w-hot", { merge: { spec: { text: String(i) } } });
    await s.clock.advance(1);
  }
  await s.clock.advance(60_000);
  assert.equal(seen.size, 11);
  await assertConverged(s.user, 11);
});

test("a kind that was just installed is watched a moment later, without a warning", async () => {
  const s = await stage();
  let refusals = 3;
  s.interfere = async (request, next) => {
    if (!request.path.includes("watch=true") || !request.path.includes("widgets") || refusals-- <= 0)
      return next(request);
    const status = { kind: "Status", code: 429, reason: "TooManyRequests", message: "storage is (re)initializing" };
    return { status: 429, headers: { "retry-after": "1" }, body: JSON.stringify(status) };
  };
  await s.run(copies());
  await s.widget("w", { text: "1" });
  await s.settle();
  await assertConverged(s.user, 1);
  assert.deepEqual(s.warnings, []);
});
