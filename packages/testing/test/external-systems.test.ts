import assert from "node:assert/strict";
import { test } from "node:test";
import { controller, externalResource, operator } from "@konverge/runtime";
import {
  assertNoFindings,
  checkOperator,
  type Exploration,
  explore,
  externalSystem,
  runScenario,
  type Scenario,
} from "@konverge/testing";
import { converges, sound, Widget } from "./widgets.ts";

/** A system outside that keeps texts under ids, and one that gives the ids itself. */
class Registry {
  readonly entries = new Map<string, string>();
  #last = 0;

  async read(id: string) {
    return this.entries.get(id);
  }

  async write(id: string, text: string) {
    this.entries.set(id, text);
  }

  async add(text: string) {
    const id = `entry-${++this.#last}`;
    this.entries.set(id, text);
    return id;
  }

  async remove(id: string) {
    this.entries.delete(id);
  }
}

const registry = externalSystem(() => new Registry(), {
  name: "registry",
  resources: ({ entries }) => [...entries].map(([id, text]) => [id, { text }]),
});

const entry = externalResource<Widget, string, string>(Widget, {
  name: "entry",
  observe: (id) => registry.read(id),
  create: async (id, text) => {
    await registry.write(id, text);
    return undefined;
  },
  matches: (observed, desired) => observed === desired,
  update: (id, text) => registry.write(id, text),
  delete: (id) => registry.remove(id),
});

const careful = operator({
  ...sound,
  create: () => ({
    controllers: [
      controller(Widget, {
        resync: 60_000,
        async reconcile(widget, context) {
          await entry.converge(widget, widget.spec.text, context);
          return { status: { text: widget.spec.text } };
        },
        cleanup: (widget, context) => entry.remove(widget, context),
      }),
    ],
  }),
});

/** Stores the id when it has one: a crash or a lost answer before that makes another entry. */
const duplicating = operator({
  ...sound,
  create: () => ({
    controllers: [
      controller(Widget, {
        async reconcile({ spec, status }) {
          if (status?.text === undefined) return { status: { text: await registry.add(spec.text) } };
          return {};
        },
        async cleanup({ status }) {
          if (status?.text !== undefined) await registry.remove(status.text);
          return undefined;
        },
      }),
    ],
  }),
});

/** Writes what it has been asked for, and never removes it. */
const leaking = operator({
  ...sound,
  create: () => ({
    controllers: [
      controller(Widget, {
        async reconcile({ metadata, spec }) {
          await registry.write(metadata.name, spec.text);
          return { status: { text: spec.text } };
        },
      }),
    ],
  }),
});

const found = ({ findings }: Exploration) =>
  findings.map(({ oracle, message, faults }) => [oracle, message, ...faults.map(outcomeOf)].join(" | "));

const outcomeOf = (fault: Exploration["findings"][number]["faults"][number]) =>
  fault.type === "external call" ? `${fault.outcome} at ${fault.at.what}` : fault.type;

test("a resource that is made as its id was stored before survives all that happens to external calls", async () => {
  const exploration = await checkOperator(careful, { faults: ["external", "deletion"] });
  assertNoFindings(exploration);
  assert.ok((exploration.tried.external ?? 0) >= 18, JSON.stringify(exploration.tried));
  assert.ok(exploration.deterministic);
});

test("an entry that is made twice is found where the answer is lost, and where the process dies after the call", async () => {
  const all = found(await explore(converges(duplicating), { faults: ["external"], findings: 100 }));
  assert.ok(
    all.some((one) =>
      /^external state \| registry: entry-2 should not be there \| (lost answer|crash after)/.test(one),
    ),
    all.join("\n"),
  );
  assert.ok(!all.some((one) => /error at|slow at|crash before at/.test(one)), all.join("\n"));
});

test("an entry that outlives its object is found without any fault, and when its object is deleted after a write", async () => {
  const removal: Scenario = async (environment) => {
    await converges(leaking)(environment);
    await environment.client.delete(Widget, `${environment.namespace}/w`);
    await environment.settled();
  };
  const [clean] = found(await explore(removal, { faults: ["external"] }));
  assert.equal(clean, "external leak | registry: w is left behind by Widget stage/w");
  const deletion = found(await explore(converges(leaking), { faults: ["deletion"] }));
  assert.match(deletion.join("\n"), /deleted after write .* registry: w is left behind by Widget stage\/w/);
});

test("a call for an object that is gone is found where it changes something", async () => {
  const late = operator({
    ...sound,
    create: () => ({
      controllers: [
        controller(Widget, {
          async reconcile({ metadata, spec }, { clock }) {
            await registry.write("first", spec.text);
            const { promise, resolve } = Promise.withResolvers<void>();
            clock.after(5_000, resolve);
            await promise;
            await registry.write(metadata.name, spec.text);
            return {};
          },
        }),
      ],
    }),
  });
  const scenario: Scenario = async (environment) => {
    await environment.start(late);
    await environment.apply(Widget.new({ metadata: { name: "w" }, spec: { text: "a" } }));
    await environment.until("it began", () => registry.entries.has("first"));
    await environment.client.delete(Widget, `${environment.namespace}/w`);
    await environment.settled();
  };
  const all = found(await explore(scenario, { faults: ["external"], runs: 0 }));
  assert.ok(
    all.includes("external call after deletion | registry write changed something for Widget stage/w, which was gone"),
    all.join("\n"),
  );
});

test("each cluster has its own, which survives the operator's process, and a dead process calls nothing", async () => {
  for (const _ of [1, 2]) {
    await runScenario(async (environment) => {
      assert.equal(registry.entries.size, 0);
      const running = await environment.start(careful);
      await environment.apply(Widget.new({ metadata: { name: "w" }, spec: { text: "a" } }));
      await environment.until("it is registered", () => registry.entries.size === 1);
      running.crash();
      for (const id of registry.entries.keys()) registry.entries.set(id, "changed");
      await environment.advance(120_000);
      assert.deepEqual([...registry.entries.values()], ["changed"]);
      await running.restart();
      await environment.until("it is repaired", () => [...registry.entries.values()].join() === "a");
    });
  }
});

test("a system that is a function is called, and resources that stay on purpose are no leak", async () => {
  const sent = new Set<string>();
  const mail = externalSystem(
    () => {
      sent.clear();
      return async (to: string) => void sent.add(to);
    },
    { name: "mail", resources: () => [...sent].map((to) => [to, {}]), kept: () => true },
  );
  const mailing = operator({
    ...sound,
    create: () => ({
      controllers: [
        controller(Widget, {
          async reconcile({ metadata, spec }) {
            await mail(metadata.name);
            return { status: { text: spec.text } };
          },
        }),
      ],
    }),
  });
  const exploration = await explore(converges(mailing), { faults: ["external", "deletion"] });
  assertNoFindings(exploration);
  assert.ok((exploration.tried.external ?? 0) >= 6);
});
