import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ApiRequest,
  type ApiResponse,
  expired,
  type KubeObject,
  type Random,
  seededRandom,
  VirtualClock,
} from "@konverge/core";
import fc from "fast-check";
import { added, bookmark, changed, compacted, deleted, Widget, widget } from "../../test/scripted-server.ts";
import { Client } from "../client.ts";

type Line = { type: string; object: KubeObject };

/** A server with a history that it forgets, and that fails in every way a stream can, until it is healed. */
class UnreliableServer {
  readonly objects = new Map<string, Widget>();
  readonly #clock: VirtualClock;
  readonly #random: Random;
  readonly #knowsWatchList: boolean;
  readonly #history: { version: number; line: Line }[] = [];
  readonly #snapshots = new Map<string, { version: number; items: Widget[] }>();
  readonly #wakers = new Set<() => void>();
  #version = 1;
  #forgotten = 0;
  #healthy = false;

  constructor(clock: VirtualClock, seed: number, knowsWatchList: boolean) {
    this.#clock = clock;
    this.#random = seededRandom(seed);
    this.#knowsWatchList = knowsWatchList;
  }

  mutate(): void {
    const name = `w${this.#random.below(5)}`;
    const old = this.objects.get(name);
    const version = ++this.#version;
    const object = widget(name, String(version), version);
    const remove = old !== undefined && this.#chance(0.4);
    if (remove) this.objects.delete(name);
    else this.objects.set(name, object);
    this.#history.push({ version, line: remove ? deleted(object) : old ? changed(object) : added(object) });
    if (this.#chance(0.1)) this.#forgotten = version - this.#random.below(3);
    for (const wake of this.#wakers) wake();
  }

  heal(): void {
    this.#healthy = true;
  }

  transport = async (request: ApiRequest): Promise<ApiResponse> => {
    await this.#turn();
    if (this.#fails(0.1)) throw new Error("connection refused");
    if (this.#fails(0.1)) return answer(500, { kind: "Status", code: 500, message: "boom" });
    if (this.#fails(0.05)) return new Promise(() => {});
    const query = new URL(request.path, "http://x").searchParams;
    if (query.get("watch")) return this.#watch(query);
    return this.#list(query);
  };

  #list(query: URLSearchParams): ApiResponse {
    const token = query.get("continue");
    const limit = Number(query.get("limit") ?? 1000);
    const [id, offset] = token ? [token.split(":")[0]!, Number(token.split(":")[1])] : [String(this.#version), 0];
    if (!token) this.#snapshots.set(id, { version: this.#version, items: [...this.objects.values()] });
    const snapshot = this.#snapshots.get(id)!;
    if (snapshot.version < this.#forgotten) return answer(410, expired("too old").status);
    const items = snapshot.items.slice(offset, offset + limit);
    const more = offset + limit < snapshot.items.length ? { continue: `${id}:${offset + limit}` } : {};
    return answer(200, { metadata: { resourceVersion: String(snapshot.version), ...more }, items });
  }

  #watch(query: URLSearchParams): ApiResponse {
    const initial = query.get("sendInitialEvents") === "true";
    if (initial && !this.#knowsWatchList) return answer(422, { kind: "Status", code: 422 });
    const from = initial ? this.#version : Number(query.get("resourceVersion"));
    if (from < this.#forgotten) return answer(410, expired("too old").status);
    const first = initial
      ? [...[...this.objects.values()].map(added), bookmark(String(from), true) as Line]
      : ([] as Line[]);
    return { status: 200, headers: {}, body: this.#stream(first, from) };
  }

  async *#stream(first: Line[], from: number): AsyncGenerator<string> {
    let observed = from;
    const queue = [...first];
    for (;;) {
      for (const line of queue) {
        const text = `${JSON.stringify(line)}\n`;
        if (this.#fails(0.05)) throw new Error("connection reset");
        if (this.#fails(0.05)) return void (yield text.slice(0, this.#random.below(text.length)));
        if (this.#fails(0.02)) await new Promise(() => {});
        yield text;
      }
      if (this.#fails(0.1)) return;
      if (observed < this.#forgotten) return void (yield `${JSON.stringify(compacted())}\n`);
      queue.length = 0;
      for (const entry of this.#history) if (entry.version > observed) queue.push(entry.line);
      if (queue.length === 0) {
        queue.push(bookmark(String(this.#version)) as Line);
        await this.#change();
      } else observed = this.#version;
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wakers.delete(wake);
        timer.cancel();
        resolve();
      };
      const timer = this.#clock.after(60_000, wake, { background: true });
      this.#wakers.add(wake);
    });
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => this.#clock.post(resolve));
  }

  #chance(probability: number): boolean {
    return this.#random.next() < probability;
  }

  #fails(probability: number): boolean {
    return !this.#healthy && this.#chance(probability);
  }
}

function answer(status: number, value: unknown): ApiResponse {
  return { status, headers: {}, body: JSON.stringify(value) };
}

test("whatever fails on the way, a consumer that follows the rules ends up with the server's state", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0 }), fc.boolean(), fc.boolean(), async (seed, knowsWatchList, pages) => {
      const clock = new VirtualClock({ seed });
      const server = new UnreliableServer(clock, seed, knowsWatchList);
      const end = new AbortController();
      const watch = new Client(server.transport, { clock, timeout: 10_000 }).watch(Widget, {
        signal: end.signal,
        pageSize: 2,
        listing: pages ? "pages" : "stream",
      });
      const cache = new Map<string, Widget>();
      let listed: Set<string> | undefined;
      let synced = 0;
      const consumer = (async () => {
        for await (const event of watch) {
          switch (event.type) {
            case "RESET":
              listed = new Set();
              break;
            case "ADDED":
            case "MODIFIED": {
              const { name, resourceVersion } = event.object.metadata;
              assert.ok(
                Number(resourceVersion) >= Number(cache.get(name)?.metadata.resourceVersion ?? 0),
                "an object never goes back in time",
              );
              cache.set(name, event.object);
              listed?.add(name);
              break;
            }
            case "DELETED":
              cache.delete(event.object.metadata.name);
              break;
            case "SYNCED":
              for (const name of cache.keys()) if (!listed?.has(name)) cache.delete(name);
              listed = undefined;
              synced++;
          }
        }
      })();
      for (let i = 0; i < 60; i++) {
        server.mutate();
        await clock.advance(seed % 2 ? 50 : 5000);
      }
      server.heal();
      await clock.advance(600_000);
      end.abort();
      await consumer;
      assert.ok(synced > 0);
      assert.equal(listed, undefined);
      const state = (map: Map<string, Widget>) =>
        [...map].map(([name, object]) => `${name}@${object.metadata.resourceVersion}`).sort();
      assert.deepEqual(state(cache), state(server.objects));
    }),
    { numRuns: 60 },
  );
});
