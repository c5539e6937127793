import assert from "node:assert/strict";
import { ConfigMap, Lease } from "@konverge/kinds";
import { type Controller, controller, type Daemon, PAUSED_ANNOTATION, PermanentError } from "@konverge/runtime";
import { scenario, virtual } from "./scenario.ts";
import { type Stage, Widget } from "./stage.ts";

/** Says what daemons do: `+w` one began, `-w` one ended. */
class Diary {
  readonly entries: string[] = [];
  readonly #running = new Map<string, number>();

  daemon(more: Partial<Daemon<Widget>> = {}): Daemon<Widget> {
    return {
      run: async ({ metadata }, { sleep }) => {
        const running = (this.#running.get(metadata.name) ?? 0) + 1;
        this.#running.set(metadata.name, running);
        this.entries.push(`+${metadata.name}${running > 1 ? ` as number ${running}` : ""}`);
        try {
          for (;;) await sleep(1_000);
        } finally {
          this.#running.set(metadata.name, this.#running.get(metadata.name)! - 1);
          this.entries.push(`-${metadata.name}`);
        }
      },
      ...more,
    };
  }

  controller(more: Partial<Daemon<Widget>> = {}): Controller {
    return controller(Widget, { name: "daemons", daemons: { follow: this.daemon(more) }, reconcile: () => ({}) });
  }

  /** What has happened since the last call. */
  told(): string {
    return this.entries.splice(0).join(" ");
  }
}

scenario("a daemon runs while its object is there, and the object waits for its end", async (s) => {
  const diary = new Diary();
  await s.run(diary.controller());
  await s.widget("w");
  await s.settle();
  assert.equal(diary.told(), "+w");
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "x" } } });
  await s.settle();
  assert.equal(diary.told(), "");
  await s.user.delete(Widget, "default/w");
  await s.settle();
  assert.equal(diary.told(), "-w");
  assert.equal(await s.exists(Widget, "default/w"), false);
});

scenario("it is stopped by a pause, by its own condition and by a new basis, and never runs twice", async (s) => {
  const diary = new Diary();
  await s.run(diary.controller({ when: ({ spec }) => spec.text !== "off", basis: ({ spec }) => spec.maps }));
  await s.widget("w");
  await s.settle();
  const pause = (value: string | null) =>
    s.user.patch(Widget, "default/w", {
      merge: { metadata: { annotations: { [PAUSED_ANNOTATION]: value } } },
    } as never);
  await pause("true");
  await s.settle();
  assert.equal(diary.told(), "+w -w");
  await pause(null);
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { maps: ["a"] } } });
  await s.settle();
  assert.equal(diary.told(), "+w -w +w");
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "off" } } });
  await s.settle();
  assert.equal(diary.told(), "-w");
});

scenario("it ends with its manager, and goes on in the next one", async (s) => {
  const diary = new Diary();
  const first = await s.run(diary.controller());
  await s.widget("w");
  await s.settle();
  await s.during(first.stop());
  assert.equal(diary.told(), "+w -w");
  await s.run(diary.controller());
  await s.settle();
  assert.equal(diary.told(), "+w");
});

virtual(
  "one that fails begins again after ever longer waits; one that cannot succeed waits for a change",
  async (s) => {
    const starts: number[] = [];
    let forGood = false;
    await s.run(
      controller(Widget, {
        daemons: {
          fail: {
            async run(_widget, { clock }) {
              starts.push(Math.round(clock.monotonic() / 1000));
              throw forGood ? new PermanentError("Wrong", "no use") : new Error("not now");
            },
          },
        },
        reconcile: () => ({}),
      }),
    );
    await s.widget("w");
    await s.clock.advance(60_000);
    const waits = starts.slice(1).map((time, i) => time - starts[i]!);
    assert.ok(starts.length >= 5 && starts.length <= 8, String(starts));
    assert.ok(waits.at(-1)! > waits[0]!);
    forGood = true;
    await s.clock.advance(300_000);
    const count = starts.length;
    await s.clock.advance(3_600_000);
    assert.equal(starts.length, count);
    await s.user.patch(Widget, "default/w", { merge: { spec: { text: "x" } } });
    await s.clock.advance(1_000);
    assert.equal(starts.length, count + 1);
    assert.match(s.warnings.at(-1)!, /daemon fail failed: no use/);
  },
);

virtual("one that is finished is not begun again, and can have its object reconciled", async (s) => {
  let [runs, looks] = [0, 0];
  await s.run(
    controller(Widget, {
      daemons: {
        once: {
          async run(_widget, { requeue, latest }) {
            runs++;
            if (latest()?.metadata.name === "w") requeue();
          },
        },
      },
      reconcile() {
        looks++;
        return {};
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "x" } } });
  await s.settle();
  assert.equal(runs, 1);
  assert.ok(looks >= 3);
});

virtual("one that does not listen is left behind, and can do nothing more", async (s) => {
  const tries: Promise<unknown>[] = [];
  await s.run(
    controller(Widget, {
      daemons: {
        deaf: {
          async run(_widget, { client, clock }) {
            for (let i = 0; ; i++) {
              await new Promise<void>((resolve) => void clock.after(1_000, resolve, { background: true }));
              const metadata = { name: `late-${i}`, namespace: "default" };
              tries.push(client.apply(ConfigMap, { metadata }).catch((error: Error) => error.name));
            }
          },
        },
      },
      reconcile: () => ({}),
    }),
  );
  await s.widget("w");
  await s.clock.advance(2_500);
  await s.user.delete(Widget, "default/w");
  await s.clock.advance(20_000);
  assert.equal(await s.exists(Widget, "default/w"), false);
  assert.equal(await s.exists(ConfigMap, "default/late-1"), true);
  assert.equal(await s.exists(ConfigMap, "default/late-10"), false);
});

/** Replicas that have a daemon each for the keys that are theirs. */
async function replica(s: Stage, diary: Diary, identity: string, election: object) {
  const manager = s.manager(diary.controller(), { identity, gracefulShutdownTimeout: 20_000, ...election });
  await s.during(manager.start());
  return manager;
}

virtual("among replicas with a leader there is one at a time, also when the lease is lost", async (s) => {
  const diary = new Diary();
  const leader = { leaderElection: { name: "op", namespace: "default", duration: 15_000 } };
  await s.widget("w");
  const first = await replica(s, diary, "one", leader);
  await s.clock.advance(1_000);
  await replica(s, diary, "two", leader);
  await s.clock.advance(30_000);
  assert.equal(diary.told(), "+w");
  // The first one's renewals get lost: it must have ended before the second begins.
  s.interfere = async (request, next) => {
    const isRenewal = request.method === "PUT" && request.path.includes("/leases/op");
    if (isRenewal && String(request.body).includes('"holderIdentity":"one"')) return new Promise(() => {});
    return next(request);
  };
  await s.clock.advance(60_000);
  assert.equal(diary.told(), "-w +w");
  assert.equal((await s.user.get(Lease, "default/op")).spec?.holderIdentity, "two");
  s.interfere = undefined;
  await s.during(first.stop());
});

virtual("shards hand daemons over one by one, each ended before it is begun elsewhere", async (s) => {
  const diary = new Diary();
  const shards = { sharding: { name: "op", namespace: "default", duration: 15_000, parts: 6 } };
  for (let i = 0; i < 12; i++) await s.widget(`w${i}`);
  const first = await replica(s, diary, "one", shards);
  await s.clock.advance(30_000);
  await replica(s, diary, "two", shards);
  await s.clock.advance(60_000);
  await s.during(first.stop());
  await s.clock.advance(60_000);
  assert.deepEqual(
    diary.entries.filter((entry) => entry.includes("number")),
    [],
  );
  for (let i = 0; i < 12; i++) {
    const own = diary.entries.filter((entry) => entry.slice(1) === `w${i}`);
    assert.equal(own.at(-1), `+w${i}`);
    assert.ok(own.every((entry, at) => entry.startsWith(at % 2 === 0 ? "+" : "-")));
  }
});
