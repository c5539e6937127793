import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client, WatchEvent } from "@konverge/client";
import { type AnyObject, compareVersions, VirtualClock } from "@konverge/core";
import fc from "fast-check";
import { Thing, thing } from "../../test/scripted-watch.ts";
import { Informer } from "./informer.ts";

type Step =
  /** Another client creates, changes or deletes an object, or removes it from the selection. */
  | { do: "others"; name: string; how: Fate }
  /** We do; the answer comes later. */
  | { do: "write"; name: string; how: Fate }
  | { do: "answer"; which: number }
  /** The watch sends this many events. */
  | { do: "tell"; count: number }
  | { do: "bookmark" }
  /** We read past the cache; the answer comes later. */
  | { do: "read"; name: string }
  /** The watch has to list again: the server makes the list, and it arrives later. */
  | { do: "relist" }
  | { do: "listed" };

type Fate = "in" | "out" | "removed";

const SELECTED = { selected: "yes" };
const isIn = (object: AnyObject | undefined) => object?.metadata.labels?.["selected"] === "yes";

const how = fc.constantFrom<Fate>("in", "in", "out", "removed");
const name = fc.constantFrom("a", "b", "c");
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("others" as const), name, how }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("write" as const), name, how }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("answer" as const), which: fc.nat(5) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("tell" as const), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.constant({ do: "bookmark" as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("read" as const), name }) },
  { weight: 1, arbitrary: fc.constant({ do: "relist" as const }) },
  { weight: 2, arbitrary: fc.constant({ do: "listed" as const }) },
);

/** A server's state and history, a watch that is behind it, and answers that are on their way. */
class World {
  readonly objects = new Map<string, AnyObject>();
  readonly informer: Informer<AnyObject>;
  readonly #history: WatchEvent<AnyObject>[] = [];
  readonly #answers: (() => void)[] = [];
  readonly #outbox: WatchEvent<AnyObject>[] = [];
  /** The newest version of each object that the informer knows from a response. */
  readonly answered = new Map<string, { uid: string; version: string; fate: Fate }>();
  /** The version at which each object was last taken out of the selection. */
  readonly left = new Map<string, string>();
  #wake: (() => void) | undefined;
  #list: WatchEvent<AnyObject>[] | undefined;
  #told = 0;
  #version = 1;
  #uid = 0;

  constructor() {
    const world = this;
    const watch = {
      age: 0,
      async *[Symbol.asyncIterator]() {
        for (;;) {
          const next = world.#outbox.shift();
          if (next) yield next;
          else {
            await new Promise<void>((resolve) => {
              world.#wake = resolve;
            });
          }
        }
      },
    };
    const client = { watch: () => watch, clock: new VirtualClock() } as unknown as Client;
    this.informer = new Informer(client, Thing, { labelSelector: "selected=yes" });
    this.informer.start();
    this.list();
  }

  /** The watch shows what is in the selection, and that something leaves it. */
  change(key: string, fate: Fate): AnyObject | undefined {
    const remove = fate === "removed";
    const known = this.objects.get(key);
    if (remove && !known) return undefined;
    this.#version += 1;
    const uid = known?.metadata.uid ?? `uid-${++this.#uid}`;
    const object = thing(key, this.#version, {
      metadata: { name: key, uid, resourceVersion: String(this.#version), labels: fate === "in" ? SELECTED : {} },
    });
    if (remove) this.objects.delete(key);
    else this.objects.set(key, object);
    const [wasIn, staysIn] = [isIn(known), fate === "in"];
    if (wasIn && !staysIn) this.left.set(key, String(this.#version));
    if (wasIn || staysIn) {
      this.#history.push({ type: staysIn ? (wasIn ? "MODIFIED" : "ADDED") : "DELETED", object });
    }
    return object;
  }

  /** Deletions are of what we know, by its uid: the server refuses them if it is another by now. */
  write(key: string, fate: Fate): void {
    const remove = fate === "removed";
    const known = this.informer.get(`default/${key}`)?.metadata.uid;
    if (remove && (!known || known !== this.objects.get(key)?.metadata.uid)) return;
    const over = this.informer.expect(`default/${key}`);
    const object = this.change(key, fate)!;
    const { uid = "", resourceVersion = "" } = object.metadata;
    this.#answers.push(() => {
      if (remove) this.informer.missed(`default/${key}`, uid, "us");
      else this.informer.saw(structuredClone(object), "us");
      if (compareVersions(this.answered.get(key)?.version, resourceVersion) < 0) {
        this.answered.set(key, { uid, version: resourceVersion, fate });
      }
      over();
    });
  }

  read(key: string): void {
    const object = this.objects.get(key);
    if (object) this.#answers.push(() => this.informer.saw(structuredClone(object), undefined));
  }

  answer(which: number): void {
    const [answer] = this.#answers.splice(which % Math.max(1, this.#answers.length), 1);
    answer?.();
  }

  async tell(count: number): Promise<void> {
    await this.listed();
    await this.#send(...this.#history.slice(this.#told, this.#told + count));
    this.#told = Math.min(this.#history.length, this.#told + count);
  }

  async bookmark(): Promise<void> {
    await this.listed();
    if (this.#told === this.#history.length)
      await this.#send({ type: "BOOKMARK", resourceVersion: String(this.#version) });
  }

  /** The list is made now. What happens until it arrives comes as events after it. */
  list(): void {
    const items = [...this.objects.values()].filter(isIn).map((object) => ({ type: "ADDED" as const, object }));
    this.#told = this.#history.length;
    this.#list = [{ type: "RESET" }, ...items, { type: "SYNCED", resourceVersion: String(this.#version) }];
  }

  async listed(): Promise<void> {
    const list = this.#list ?? [];
    this.#list = undefined;
    await this.#send(...list);
  }

  async finish(): Promise<void> {
    while (this.#answers.length > 0) this.answer(0);
    await this.tell(this.#history.length);
    this.change("last", "in");
    await this.tell(1);
  }

  async #send(...events: WatchEvent<AnyObject>[]): Promise<void> {
    this.#outbox.push(...structuredClone(events));
    this.#wake?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("whatever order events and answers come in, reads never go back, and all is as on the server in the end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), async (steps) => {
      const world = new World();
      await new Promise((resolve) => setImmediate(resolve));
      const newest = new Map<string, string>();
      const check = () => {
        for (const key of ["a", "b", "c"]) {
          const read = world.informer.get(`default/${key}`);
          const answered = world.answered.get(key);
          const stays =
            answered?.fate === "in" &&
            world.objects.get(key)?.metadata.uid === answered.uid &&
            compareVersions(world.left.get(key), answered.version) < 0;
          if (stays) assert.ok(read, `${key} is gone, though we wrote it and nobody deleted it`);
          assert.ok(!read || isIn(read), `${key} is read outside the selection`);
          if (answered && read) {
            const { uid, resourceVersion } = read.metadata;
            assert.ok(!(answered.fate === "removed" && uid === answered.uid), `${key} is back after we deleted it`);
            assert.ok(compareVersions(resourceVersion, answered.version) >= 0, `${key} is older than our own write`);
          }
          if (read) {
            const { resourceVersion } = read.metadata;
            assert.ok(compareVersions(resourceVersion, newest.get(key)) >= 0, `${key} went back`);
            newest.set(key, resourceVersion!);
          }
        }
      };
      for (const one of steps) {
        if (one.do === "others") world.change(one.name, one.how);
        else if (one.do === "write") world.write(one.name, one.how);
        else if (one.do === "answer") world.answer(one.which);
        else if (one.do === "tell") await world.tell(one.count);
        else if (one.do === "bookmark") await world.bookmark();
        else if (one.do === "read") world.read(one.name);
        else if (one.do === "relist") world.list();
        else await world.listed();
        check();
      }
      await world.finish();
      check();
      for (const key of ["a", "b", "c"]) {
        const known = world.informer.get(`default/${key}`)?.metadata.resourceVersion;
        const there = world.objects.get(key);
        assert.equal(known, isIn(there) ? there?.metadata.resourceVersion : undefined, `${key} differs in the end`);
      }
    }),
    { numRuns: 400 },
  );
});
