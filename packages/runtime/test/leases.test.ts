import assert from "node:assert/strict";
import { test } from "node:test";
import { sleep } from "@konverge/core";
import { ConfigMap, Lease } from "@konverge/kinds";
import { controller, type Manager, type Observer } from "@konverge/runtime";
import { configMap, type Stage, stage, Widget } from "./stage.ts";

/** Who is acting on what, as an onlooker on the server's side would see it. */
class Actors {
  readonly #acting = new Map<string, string>();
  readonly acts: string[] = [];
  readonly collisions: string[] = [];
  /** Reconciles that were broken off. */
  interrupted = 0;

  /** A reconcile by `actor` that takes `ms` and is seen from its first to its last act. */
  controller(actor: string, ms: number) {
    return controller(Widget, {
      name: "widgets",
      owns: [ConfigMap],
      reconcile: async ({ metadata, spec }, { client, clock, signal }) => {
        const { name } = metadata;
        const touch = () =>
          client.apply(
            ConfigMap,
            { metadata: { name: `touch-${name}`, namespace: "default" }, data: { actor } },
            { force: true },
          );
        await touch();
        this.begin(name, actor);
        try {
          await sleep(clock, ms, { signal });
          await touch();
        } finally {
          this.end(name, actor);
        }
        return { children: [configMap(`child-${name}`, { text: spec.text })] };
      },
    });
  }

  begin(name: string, actor: string): void {
    const other = this.#acting.get(name);
    if (other && other !== actor) this.collisions.push(`${name}: ${other} and ${actor}`);
    this.#acting.set(name, actor);
    this.acts.push(`${actor} ${name}`);
  }

  end(name: string, actor: string): void {
    if (this.#acting.get(name) === actor) this.#acting.delete(name);
  }

  by(actor: string): Set<string> {
    return new Set(this.acts.filter((act) => act.startsWith(`${actor} `)).map((act) => act.slice(actor.length + 1)));
  }
}

async function touchAll(s: Stage, count: number, text: string): Promise<void> {
  for (let i = 0; i < count; i++) await s.user.patch(Widget, `default/w${i}`, { merge: { spec: { text } } });
}

async function replica(s: Stage, actors: Actors, identity: string, options: object, ms = 50): Promise<Manager> {
  const observer: Observer = {
    reconciling: () => ({
      ended({ outcome }) {
        if (outcome === "stopped") actors.interrupted++;
      },
    }),
  };
  const manager = s.manager(actors.controller(identity, ms), {
    identity,
    gracefulShutdownTimeout: 20_000,
    observers: [observer],
    ...options,
  });
  await s.during(manager.start());
  return manager;
}

const leader = { leaderElection: { name: "op", namespace: "default", duration: 15_000 } };

test("only the leader acts; when it stops, the next one acquires the lease at once", async () => {
  const s = await stage();
  const actors = new Actors();
  const first = await replica(s, actors, "one", leader);
  const second = await replica(s, actors, "two", leader);
  await s.widget("w0");
  await s.clock.advance(20_000);
  assert.equal(first.working, true);
  assert.equal(second.working, false);
  assert.deepEqual([...actors.by("one")], ["w0"]);
  assert.equal(actors.by("two").size, 0);
  const { spec } = await s.user.get(Lease, "default/op");
  assert.equal(spec?.holderIdentity, "one");
  await s.during(first.stop());
  await s.clock.advance(5_000);
  assert.equal(second.working, true);
  await touchAll(s, 1, "again");
  await s.clock.advance(5_000);
  assert.deepEqual([...actors.by("two")], ["w0"]);
  assert.equal((await s.user.get(Lease, "default/op")).spec?.leaseTransitions, 1);
});

test("a leader that cannot renew stops acting before another may begin", async () => {
  const s = await stage();
  const actors = new Actors();
  for (let i = 0; i < 3; i++) await s.widget(`w${i}`);
  const first = await replica(s, actors, "one", leader, 3_000);
  await s.clock.advance(1_000);
  const second = await replica(s, actors, "two", leader, 3_000);
  // From now on the first one's renewals get lost; its other requests do not.
  s.interfere = async (request, next) => {
    const isRenewal = request.method === "PUT" && request.path.includes("/leases/op");
    if (isRenewal && String(request.body).includes('"holderIdentity":"one"')) return new Promise(() => {});
    return next(request);
  };
  for (let round = 0; round < 40; round++) {
    await touchAll(s, 3, `round ${round}`);
    await s.clock.advance(1_000);
  }
  assert.deepEqual(actors.collisions, []);
  assert.equal(actors.by("two").size, 3);
  assert.ok(actors.acts.lastIndexOf("one w0") < actors.acts.indexOf("two w0"));
  s.interfere = undefined;
  await s.during(Promise.all([first.stop(), second.stop()]));
});

test("after a pause longer than its lease, a leader sends nothing, whatever its code does next", async () => {
  const s = await stage();
  const pause = Promise.withResolvers<void>();
  const outcome = Promise.withResolvers<unknown>();
  let first = true;
  const manager = s.manager(
    controller(Widget, {
      async reconcile(_widget, { client, clusters }) {
        if (!first) return {};
        first = false;
        await pause.promise;
        const late = { metadata: { name: "late", namespace: "default" } };
        const path = "/api/v1/namespaces/default/configmaps";
        const tries = [
          () => client.apply(ConfigMap, late),
          () => client.request({ method: "POST", path, body: late }),
          () => client.as({ user: "somebody" }).create(ConfigMap, late),
          () => client.exec("default/pod", ["date"]),
          () => client.requestToken("default/robot"),
          () => clusters.get("home")!.apply(ConfigMap, late),
          () => clusters.get("other")!.apply(ConfigMap, late),
        ];
        outcome.resolve(await Promise.all(tries.map((attempt) => attempt().catch((error: Error) => error.name))));
        return {};
      },
    }),
    { identity: "one", ...leader, clusters: { other: s.user } },
  );
  await s.during(manager.start());
  await s.widget("w0");
  await s.clock.advance(1_000);
  // The process does not run: no timer fires, and time goes on.
  const { monotonic } = s.clock;
  s.clock.monotonic = () => monotonic.call(s.clock) + 60_000;
  pause.resolve();
  assert.deepEqual(await outcome.promise, Array(7).fill("LostAuthorityError"));
  assert.equal(await s.exists(ConfigMap, "default/late"), false);
});

test("wall clocks do not matter: a lease counts from when it was seen to change", async () => {
  const s = await stage();
  await s.user.create(Lease, {
    metadata: { name: "op", namespace: "default" },
    spec: {
      holderIdentity: "ghost",
      leaseDurationSeconds: 15,
      renewTime: "1999-01-01T00:00:00.000000Z",
      leaseTransitions: 3,
    },
  });
  const actors = new Actors();
  const manager = await replica(s, actors, "one", leader);
  await s.clock.advance(14_000);
  assert.equal(manager.working, false);
  await s.clock.advance(8_000);
  assert.equal(manager.working, true);
  assert.equal((await s.user.get(Lease, "default/op")).spec?.leaseTransitions, 4);
});

test("a lease that another client acquires or deletes is lost at once", async () => {
  for (const spoil of [
    (s: Stage) => s.user.patch(Lease, "default/op", { merge: { spec: { holderIdentity: "thief" } } }),
    (s: Stage) => s.user.delete(Lease, "default/op"),
  ]) {
    const s = await stage();
    const leased: boolean[] = [];
    const observers = [{ leased: ({ held }: { held: boolean }) => void leased.push(held) }];
    await replica(s, new Actors(), "one", { ...leader, observers });
    await s.clock.advance(1_000);
    await spoil(s);
    await s.clock.advance(8_000);
    assert.deepEqual(leased.slice(0, 2), [true, false]);
  }
});

test("a leader whose lease expired without a successor acquires it again, and reads from the server before it acts", async () => {
  const s = await stage();
  const actors = new Actors();
  await s.widget("w0");
  const manager = await replica(s, actors, "one", leader);
  await s.clock.advance(1_000);
  s.interfere = async (request, next) => {
    if (request.path.includes("/leases/")) throw new Error("no way");
    return next(request);
  };
  await s.clock.advance(30_000);
  await touchAll(s, 1, "meanwhile");
  await s.clock.advance(5_000);
  const before = actors.acts.length;
  s.interfere = undefined;
  s.requests.length = 0;
  await s.clock.advance(30_000);
  assert.equal(manager.working, true);
  assert.ok(actors.acts.length > before);
  assert.ok(s.requests.some((request) => /^GET .*\/widgets\/w0/.test(request)));
  assert.deepEqual((await s.user.get(ConfigMap, "default/child-w0")).data, { text: "meanwhile" });
});

const shards = { sharding: { name: "op", namespace: "default", duration: 15_000, parts: 6 } };

test("replicas share the keys among them, every key with exactly one", async () => {
  const s = await stage();
  const actors = new Actors();
  for (let i = 0; i < 24; i++) await s.widget(`w${i}`);
  for (const name of ["one", "two", "three"]) await replica(s, actors, name, shards);
  await s.clock.advance(20_000);
  actors.acts.length = 0;
  await touchAll(s, 24, "again");
  await s.clock.advance(60_000);
  const shares = ["one", "two", "three"].map((name) => actors.by(name));
  assert.equal(
    shares.reduce((sum, share) => sum + share.size, 0),
    24,
  );
  assert.ok(
    shares.every((share) => share.size >= 2),
    `shares ${shares.map((share) => share.size)}`,
  );
  assert.deepEqual(actors.collisions, []);
});

test("when replicas start and stop under load, no key has two actors, and none is left out", async () => {
  const s = await stage();
  const actors = new Actors();
  for (let i = 0; i < 12; i++) await s.widget(`w${i}`);
  const managers = [await replica(s, actors, "one", shards, 2_000)];
  const changes: Record<number, () => Promise<unknown>> = {
    10: async () => managers.push(await replica(s, actors, "two", shards, 2_000)),
    30: async () => managers.push(await replica(s, actors, "three", shards, 2_000)),
    50: () => managers[0]!.stop(),
    70: async () => managers.push(await replica(s, actors, "four", shards, 2_000)),
  };
  const pending: Promise<unknown>[] = [];
  for (let second = 0; second < 100; second++) {
    const change = changes[second];
    if (change) {
      if (second === 50) pending.push(change());
      else await change();
    }
    if (second % 6 === 0) await touchAll(s, 12, `at ${second}`);
    await s.clock.advance(1_000);
  }
  await s.during(Promise.all(pending));
  await s.clock.advance(60_000);
  assert.deepEqual(actors.collisions, []);
  assert.equal(actors.interrupted, 0, "a hand-over waits for the work under way");
  for (let i = 0; i < 12; i++) {
    assert.deepEqual((await s.user.get(ConfigMap, `default/child-w${i}`)).data, { text: "at 96" });
  }
  actors.acts.length = 0;
  await touchAll(s, 12, "end");
  await s.clock.advance(30_000);
  assert.equal(actors.by("one").size, 0);
  assert.ok(["two", "three", "four"].every((name) => actors.by(name).size > 0));
});

test("a key of another replica is first read past the cache", async () => {
  const s = await stage();
  const actors = new Actors();
  for (let i = 0; i < 20; i++) await s.widget(`w${i}`);
  const first = await replica(s, actors, "one", shards);
  await s.clock.advance(30_000);
  await replica(s, actors, "two", shards);
  await s.clock.advance(60_000);
  s.requests.length = 0;
  await s.during(first.stop());
  await s.clock.advance(60_000);
  const read = new Set(s.requests.filter((request) => /^GET .*\/widgets\/w/.test(request)));
  assert.ok(read.size >= 3, "keys were taken over without a look at the server");
  assert.ok([...read].every((request) => actors.by("two").has(request.split("/").at(-1)!)));
});
