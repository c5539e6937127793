import assert from "node:assert/strict";
import { test } from "node:test";
import { keyOf } from "@konverge/core";
import { Secret } from "@konverge/kinds";
import { cacheKind, controller, type ExternalResource, externalResource, permission } from "@konverge/runtime";
import { stage, Widget } from "./stage.ts";

/** A system outside: things with a text, under ids. */
class Outside {
  readonly things = new Map<string, string>();
  readonly calls: string[] = [];
  /** What happens after the system has done what was requested. */
  lost: ((verb: string) => void) | undefined;
  slow = false;

  verbs(): ExternalResource<Widget, string, string> {
    const done = (verb: string, id: string) => {
      this.calls.push(`${verb} ${id.replace(/-[0-9a-f-]{36}$/, "")}`);
      this.lost?.(verb);
    };
    return externalResource<Widget, string, string>(Widget, {
      name: "thing",
      observe: async (id) => this.things.get(id),
      create: async (id, desired) => {
        this.things.set(id, desired);
        done("create", id);
      },
      matches: (observed, desired) => observed === desired,
      update: async (id, desired) => {
        this.things.set(id, desired);
        done("update", id);
      },
      delete: async (id) => {
        if (!this.slow) this.things.delete(id);
        done("delete", id);
      },
      orphan: ({ metadata }) => metadata.labels?.["keep"] === "yes",
    });
  }

  controller() {
    const thing = this.verbs();
    return controller(Widget, {
      resync: 60_000,
      reconcile: async (widget, context) => ({
        status: { text: await thing.converge(widget, widget.spec.text, context) },
      }),
      cleanup: (widget, context) => thing.remove(widget, context),
    });
  }
}

test("it is made, kept as it should be, and taken away with its object", async () => {
  const s = await stage();
  const outside = new Outside();
  await s.run(outside.controller());
  await s.widget("w", { text: "1" });
  await s.settle();
  assert.deepEqual([...outside.things.values()], ["1"]);
  assert.equal((await s.user.get(Widget, "default/w")).status?.text, "1");
  await s.user.patch(Widget, "default/w", { merge: { spec: { text: "2" } } });
  await s.settle();
  assert.deepEqual([...outside.things.values()], ["2"]);
  await s.user.delete(Widget, "default/w");
  await s.settle();
  assert.equal(outside.things.size, 0);
  assert.deepEqual(outside.calls, ["create thing", "update thing", "delete thing"]);
  assert.equal(await s.exists(Widget, "default/w"), false);
});

test("what drifts is repaired, and what does not is not touched", async () => {
  const s = await stage();
  const outside = new Outside();
  await s.run(outside.controller());
  await s.widget("w", { text: "1" });
  await s.settle();
  s.writes();
  await s.clock.advance(61_000);
  assert.deepEqual(outside.calls, ["create thing"]);
  for (const id of outside.things.keys()) outside.things.set(id, "drifted");
  await s.clock.advance(61_000);
  assert.deepEqual([...outside.things.values()], ["1"]);
  assert.deepEqual(s.writes(), []);
});

test("if the answer to a creation is lost, nothing is made twice and nothing is left behind", async () => {
  const s = await stage();
  const outside = new Outside();
  let losses = 1;
  outside.lost = () => {
    if (losses-- > 0) throw new Error("the connection was lost");
  };
  await s.run(outside.controller());
  await s.widget("w", { text: "1" });
  await s.settle();
  assert.deepEqual(outside.calls, ["create thing"]);
  assert.equal(outside.things.size, 1);
  const [id] = outside.things.keys();
  const { annotations } = (await s.user.get(Widget, "default/w")).metadata;
  assert.equal(annotations?.["konverge.dev/external-thing"], id);
  await s.user.delete(Widget, "default/w");
  await s.settle();
  assert.equal(outside.things.size, 0);
});

test("nothing is created if the id cannot be recorded", async () => {
  const s = await stage();
  const outside = new Outside();
  await s.run(outside.controller());
  s.interfere = async (request, next) => {
    const text = typeof request.body === "string" ? request.body : new TextDecoder().decode(request.body);
    if (request.method === "PATCH" && text.includes("external-thing")) throw new Error("cut off");
    return next(request);
  };
  await s.widget("w", { text: "1" });
  await s.clock.advance(5_000);
  assert.deepEqual(outside.calls, []);
  s.interfere = undefined;
  await s.settle();
  assert.deepEqual(outside.calls, ["create thing"]);
});

test("an orphan stays, and what is slow to go keeps its object until it is gone", async () => {
  const s = await stage();
  const outside = new Outside();
  outside.slow = true;
  await s.run(outside.controller());
  await s.user.create(Widget, {
    ...Widget.new({ metadata: { name: "kept", namespace: "default", labels: { keep: "yes" } } }),
  });
  await s.widget("slow");
  await s.settle();
  await s.user.delete(Widget, "default/kept");
  await s.user.delete(Widget, "default/slow");
  await s.clock.advance(20_000);
  assert.equal(await s.exists(Widget, "default/kept"), false);
  assert.equal(outside.things.size, 2);
  const ready = (await s.user.get(Widget, "default/slow")).status?.conditions?.find(({ type }) => type === "Ready");
  assert.match(ready?.message ?? "", /the deletion waits for thing thing-/);
  outside.slow = false;
  await s.clock.advance(20_000);
  assert.equal(await s.exists(Widget, "default/slow"), false);
  assert.equal(outside.things.size, 1);
});

test("verbs read credentials from the cache, and log in the reconcile's name", async () => {
  const s = await stage();
  const opened: (string | undefined)[] = [];
  const account = externalResource<Widget, string, { removed?: string | undefined }>(Widget, {
    name: "account",
    observe: async (_id, { cache, client, log, object }) => {
      log.debug({}, "looks at the account");
      assert.equal((await client.get(Widget, keyOf(object))).metadata.uid, object.metadata.uid);
      const password = cache.get(Secret, "default/admin")?.data?.["password"];
      opened.push(password && atob(password));
      return {};
    },
    create: async () => undefined,
    matches: () => false,
    update: async (_id, _desired, { cache, observed }) => {
      assert.deepEqual(observed, {});
      opened.push(cache.get(Secret, "default/admin")?.metadata.name);
    },
    delete: async () => {},
  });
  await s.user.create(Secret, {
    metadata: { name: "admin", namespace: "default" },
    stringData: { password: "s3cret" },
  });
  await s.run(
    controller(Widget, {
      watches: [cacheKind(Secret)],
      permissions: [permission(Widget, ["get"])],
      async reconcile(widget, context) {
        await account.converge(widget, "", context);
        return {};
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.deepEqual(opened.slice(0, 2), ["s3cret", "admin"]);
  assert.deepEqual(s.warnings, []);
});

test("a call to an external system may return nothing, at once", async () => {
  const s = await stage();
  const called: string[] = [];
  await s.run(
    controller(Widget, {
      async reconcile({ metadata }, { callExternal }) {
        const nothing = await callExternal("notify", () => {
          called.push(metadata.name);
        });
        assert.equal(nothing, undefined);
        return { status: { text: "notified" } };
      },
    }),
  );
  await s.widget("w");
  await s.settle();
  assert.deepEqual([called, (await s.user.get(Widget, "default/w")).status?.text], [["w"], "notified"]);
});
