import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnyObject } from "@konverge/core";
import { ConfigMap, CustomResourceDefinition } from "@konverge/kinds";
import { type Controller, controller, dynamicController, type Manager, replayRecording } from "@konverge/runtime";
import { defineKind, fromCRD, z } from "@konverge/schema";
import { scenario } from "./scenario.ts";
import { dataOf, type Stage, Widget } from "./stage.ts";

/** A kind that is installed while the manager runs. */
const Gadget = defineKind({
  group: "other.example.com",
  kind: "Gadget",
  versions: { v1: { spec: z.object({ text: z.string().optional() }), status: z.object({}) } },
});

const CRD = "gadgets.other.example.com";
const RUNNING = "widgets.example.com/gadgets.other.example.com";

/** Makes a ConfigMap for each object of a kind. */
const copies = (definition: CustomResourceDefinition, prefix: string): Controller =>
  controller(fromCRD(definition as never), {
    owns: [ConfigMap],
    reconcile: ({ metadata, spec }: AnyObject & { spec?: { text?: string } }) => ({
      children: [
        ConfigMap.draft({ metadata: { name: `copy-${metadata.name}` }, data: { text: `${prefix}${spec?.text}` } }),
      ],
    }),
  });

/** A controller for each definition of the group; the label is part of what they do. */
const definitions = (): Controller =>
  controller(CustomResourceDefinition, {
    name: "definitions",
    reconcile: (definition) => {
      if (definition.spec?.group !== "other.example.com") return;
      const prefix = definition.metadata.labels?.["prefix"] ?? "";
      return { controllers: [dynamicController(copies(definition, prefix), { revision: `v${prefix}` })] };
    },
  });

/** A controller of Gadgets while a Widget called `on` exists. The status counts how far it is. */
const whileThereIsAWidget = (): Controller =>
  controller(Widget, {
    reconcile: ({ spec }, { controllerState }) => {
      const gadgets = copies(Gadget.crd() as never, spec.text);
      return {
        controllers: spec.maps.map(() => dynamicController(gadgets, { revision: spec.text })),
        status: { text: controllerState(gadgets.name)?.state ?? "none" },
      };
    },
  });

const install = (s: Stage) => s.user.create(CustomResourceDefinition, Gadget.crd() as never);

/** Deletes the definition, and with it all Gadgets. */
async function uninstall(s: Stage): Promise<void> {
  await s.user.delete(CustomResourceDefinition, CRD);
  await until(s, async () => !(await s.exists(CustomResourceDefinition, CRD)));
}

/** Real servers take a while to serve a new kind, and to delete one. */
async function until(s: Stage, isDone: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 100; i++) {
    await s.settle();
    if (await isDone()) return;
  }
  throw new Error("it does not happen");
}

const gadget = (s: Stage, name: string, text: string) =>
  s.user.create(Gadget.new({ metadata: { name, namespace: "default" }, spec: { text } }));
const copyOf = (s: Stage, name: string) =>
  dataOf(s.user, `default/copy-${name}`).then(
    (data) => data?.["text"],
    () => undefined,
  );
const stateOf = async (s: Stage) => (await s.user.get(Widget, "default/w")).status?.text;
const running = (manager: Manager) => [...manager.controllers()].map(({ name }) => name);
const watched = (manager: Manager) => [...manager.watches()].map(({ kind }) => kind.kind);

scenario("a kind that is installed at run time gets a controller, which stops when the kind goes", async (s) => {
  const manager = await s.run(definitions());
  await s.settle();
  assert.deepEqual(running(manager), ["definitions"]);
  await install(s);
  await until(s, async () => running(manager).length === 2);
  await gadget(s, "a", "1");
  await until(s, async () => (await copyOf(s, "a")) === "1");
  await s.user.patch(ConfigMap, "default/copy-a", { merge: { data: { text: "spoilt" } } });
  await s.settle();
  assert.equal(await copyOf(s, "a"), "1", "drift is repaired as by any other controller");
  await uninstall(s);
  await until(s, async () => running(manager).length === 1);
  assert.deepEqual(
    watched(manager),
    ["CustomResourceDefinition"],
    "nothing is cached for a controller that has stopped",
  );
  await install(s);
  await until(s, async () => running(manager).length === 2);
  await gadget(s, "b", "2");
  await until(s, async () => (await copyOf(s, "b")) === "2");
  await uninstall(s);
});

scenario("another revision replaces the controller, and lists nothing again", async (s) => {
  await install(s);
  const manager = await s.run(definitions());
  await until(s, async () => running(manager).length === 2);
  await gadget(s, "a", "1");
  await until(s, async () => (await copyOf(s, "a")) === "1");
  s.requests.length = 0;
  await s.user.patch(CustomResourceDefinition, CRD, { merge: { metadata: { labels: { prefix: "new" } } } });
  await until(s, async () => (await copyOf(s, "a")) === "new1");
  assert.deepEqual(running(manager).length, 2);
  assert.deepEqual(
    s.requests.filter((request) => request.startsWith("GET") && request.includes("/gadgets")),
    [],
  );
  await uninstall(s);
});

scenario("a restart over the children of a controller that starts late writes nothing", async (s) => {
  await install(s);
  const first = await s.run(definitions());
  await until(s, async () => running(first).length === 2);
  await gadget(s, "a", "1");
  await until(s, async () => (await copyOf(s, "a")) === "1");
  await s.during(first.stop());
  s.writes();
  // Its children are cached before it starts.
  const others = controller(Widget, { owns: [ConfigMap], reconcile: () => ({ children: [] }) });
  const second = await s.run([others, definitions()]);
  await until(s, async () => running(second).length === 3);
  assert.deepEqual(s.writes(), []);
  await uninstall(s);
});

scenario("an object learns how far its controllers are, and takes them along when it goes", async (s) => {
  const manager = await s.run(whileThereIsAWidget());
  await s.widget("w", { maps: ["on"] });
  await until(s, async () => (await stateOf(s)) === "waiting");
  assert.ok(running(manager).includes(RUNNING), "a kind that is not served stops nothing");
  await install(s);
  await until(s, async () => (await stateOf(s)) === "running");
  await gadget(s, "a", "1");
  await until(s, async () => (await copyOf(s, "a")) === "1");
  await s.user.delete(Widget, "default/w");
  await until(s, async () => !running(manager).includes(RUNNING));
  assert.equal(await copyOf(s, "a"), "1", "what it made stays");
  assert.equal(manager.working, true);
  await uninstall(s);
});

scenario("two objects that return a controller of the same name learn that it is taken", async (s) => {
  await s.run(whileThereIsAWidget());
  await s.widget("w", { maps: ["on"] });
  await s.settle();
  await s.widget("other", { maps: ["on"] });
  await s.settle();
  const { status } = await s.user.get(Widget, "default/other");
  const ready = (status as { conditions?: { type: string; message?: string }[] }).conditions?.find(
    ({ type }) => type === "Ready",
  );
  assert.match(
    ready?.message ?? "",
    /gadgets.other.example.com runs already \(default\/w has returned it\): give each a unique `name`/,
  );
});

scenario("with sharding, a result with controllers is refused", async (s) => {
  const sharding = { name: "gadgets", namespace: "default" } as never;
  await s.run(whileThereIsAWidget(), { sharding });
  await s.widget("w", { maps: ["on"] });
  await until(s, async () => s.warnings.some((line) => line.includes("use leader election instead of sharding")));
});

scenario("a replay puts recorded reconciles to the controllers that are returned in it", async (s) => {
  const folder = mkdtempSync(join(tmpdir(), "konverge-dynamic-"));
  try {
    const file = join(folder, "reconciles.jsonl");
    await install(s);
    const manager = await s.run(definitions(), { recorder: file });
    await until(s, async () => running(manager).length === 2);
    await gadget(s, "a", "1");
    await until(s, async () => (await copyOf(s, "a")) === "1");
    await s.during(manager.stop());
    const all = await Array.fromAsync(replayRecording(file, definitions()));
    const dynamic = all.filter(({ recorded }) => recorded.controller === "definitions/gadgets.other.example.com");
    assert.ok(dynamic.length > 0);
    assert.deepEqual(
      all.flatMap(({ skipped, differences }) => [...(skipped ? [skipped] : []), ...differences]),
      [],
    );
    const children = dynamic.flatMap(({ after }) => Object.keys(after.result.children ?? {}));
    assert.ok(children.includes("ConfigMap default/copy-a"));
    await uninstall(s);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
