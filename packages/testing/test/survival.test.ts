import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap } from "@konverge/kinds";
import { controller, operator } from "@konverge/runtime";
import { defineKind, z } from "@konverge/schema";
import { assertNoFindings, type Exploration, explore, runScenario, type Scenario } from "@konverge/testing";
import { careless, converges, failing, resentful, sneaky, sound, timid, Widget } from "./widgets.ts";

const messages = ({ findings }: Exploration) => findings.map(({ message }) => message);

test("children go with their owner, whenever it is deleted", async () => {
  const exploration = await explore(converges(sound), { faults: ["deletion"] });
  assertNoFindings(exploration);
  assert.equal(exploration.tried.deletion, 3, "after each of three writes");
});

test("a child without an owner is found when its owner is gone, unless it may stay", async () => {
  const found = messages(await explore(converges(careless), { faults: ["deletion"], kinds: [Widget] }));
  assert.equal(found[0], "deleted at the end: ConfigMap w-a is left behind");
  assert.match(found[1] ?? "", /deleted after write 1 of 2, in the background: ConfigMap w-a is left behind/);
  const kept = ({ metadata }: { metadata: { name: string } }) => metadata.name === "w-a";
  assert.deepEqual(messages(await explore(converges(careless), { faults: ["deletion"], kept })), []);
});

test("children that are deleted or edited by hand are made as they were", async () => {
  const exploration = await explore(converges(sound), { faults: ["drift"] });
  assert.deepEqual(messages(exploration), []);
  assert.equal(exploration.tried.drift, 6, "two are deleted, and the text of each is changed, and removed");
});

test("children that are not made again are found, with what was done to them", async () => {
  assert.deepEqual(messages(await explore(converges(timid), { faults: ["drift"] })), [
    'ConfigMap w-a, /data/text changed to "hello-edited": ConfigMap w-a differs: data.text: expected "hello", but it is ' +
      '"hello-edited"',
    "ConfigMap w-a deleted: ConfigMap w-a is missing",
  ]);
});

test("an operator that does not recover from one edit is reported once, not with each edit that follows", async () => {
  const exploration = await explore(converges(resentful), { faults: ["drift"] });
  const found = messages(exploration);
  assert.ok((exploration.tried.drift ?? 0) > 2);
  assert.equal(found.length, 1, found.join("\n"));
  assert.match(
    found[0] ?? "",
    /^ConfigMap w-a, .*: Widget w differs: status\.text: expected "hello", but it is "edited"/,
  );
});

test("findings about the whole scenario have a timeline that shows what was done and what the operator did then", async () => {
  const lines = ({ findings }: Exploration) =>
    findings[0]?.timeline.map(({ who, what }) => `${who}: ${what}`).join("\n") ?? "";
  const deletion = lines(await explore(converges(careless), { faults: ["deletion"] }));
  assert.match(deletion, /^operator: started\n[\s\S]*user: apply Widget\/w\n[\s\S]*explorer: all widgets are deleted/);
  const drift = lines(await explore(converges(timid), { faults: ["drift"] }));
  assert.match(
    drift,
    /^explorer: ConfigMap w-a, \/data\/text changed to "hello-edited"\noperator: MODIFIED configmaps\/w-a/,
  );
  const role = lines(await explore(converges(sneaky), { faults: ["rbac"] }));
  assert.match(role, /operator: list secrets/);
});

test("a wait that times out reports what the operator logged once, with how often", async () => {
  const scenario: Scenario = async (environment) => {
    await environment.start(failing);
    await environment.apply({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, spec: {} });
    await environment.until("it works", () => false, 60_000);
  };
  await assert.rejects(runScenario(scenario), ({ message }: Error) => {
    const logged = message.split("\n").filter((line) => line.includes("the operator logged"));
    assert.equal(logged.length, 1, message);
    assert.match(logged[0] ?? "", /logged \d+ times: .*the disk is full/);
    return true;
  });
});

/** Two kinds, of which one has children that outlive the objects of the other. */
const Gadget = defineKind({
  group: "example.com",
  kind: "Gadget",
  versions: { v1: { spec: z.object({ text: z.string().default("") }) } },
});

test("children of another kind, whose owners stay, are not left behind", async () => {
  const both = operator({
    name: "both",
    description: "Keeps ConfigMaps of two kinds.",
    kinds: [Widget, Gadget],
    create: (context) => ({
      controllers: [
        ...sound.create(context).controllers,
        controller(Gadget, {
          owns: [ConfigMap],
          reconcile: ({ metadata }) => ({ children: [ConfigMap.draft({ metadata: { name: `g-${metadata.name}` } })] }),
        }),
      ],
    }),
  });
  const scenario: Scenario = async (environment) => {
    await converges(both)(environment);
    await environment.apply(Gadget.new({ metadata: { name: "one" }, spec: {} }));
    await environment.until("the gadget has its ConfigMap", async () => {
      return (await environment.find(ConfigMap, "g-one")) !== undefined;
    });
  };
  assertNoFindings(await explore(scenario, { faults: ["deletion"] }));
});

test("definitions may go and come where the scenario makes what the operator talks to", async () => {
  const scenario: Scenario = async (environment) => {
    const outside = new Set<string>();
    const caller = operator({
      ...sound,
      create: () => ({
        controllers: [
          controller(Widget, {
            async reconcile({ metadata, spec }, { callExternal }) {
              await callExternal("register", () => void outside.add(metadata.name));
              return { status: { text: spec.text } };
            },
          }),
        ],
      }),
    });
    await converges(caller)(environment);
    await environment.until("it is registered", () => outside.has("w"), 60_000);
  };
  assertNoFindings(await explore(scenario, { faults: ["crd deletion"] }));
});

test("definitions may go and come while the operator runs", async () => {
  const exploration = await explore(converges(sound), { faults: ["crd deletion"] });
  assert.deepEqual(messages(exploration), []);
  assert.equal(exploration.tried["crd deletion"], 1);
});
