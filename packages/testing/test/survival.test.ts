import assert from "node:assert/strict";
import { test } from "node:test";
import { type Exploration, explore, findingText, runScenario, type Scenario } from "@konverge/testing";
import { careless, converges, failing, resentful, sneaky, sound, timid, Widget } from "./widgets.ts";

const messages = ({ findings }: Exploration) => findings.map(({ message }) => message);

test("children go with their owner, whenever it is deleted", async () => {
  const exploration = await explore(converges(sound), { faults: ["deletion"] });
  assert.deepEqual(exploration.findings.map(findingText), []);
  assert.equal(exploration.tried.deletion, 3, "after each of three writes");
});

test("a child that nobody owns is found when its owner is gone, unless it may stay", async () => {
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
    'ConfigMap w-a, /data/text changed to "hello-edited": ConfigMap w-a differs: expected "text": "hello", but it is ' +
      '"text": "hello-edited"',
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
    /^ConfigMap w-a, .*: Widget w differs: expected "text": "hello", but it is "text": "edited"/,
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

test("definitions may go and come while the operator runs", async () => {
  const exploration = await explore(converges(sound), { faults: ["crd deletion"] });
  assert.deepEqual(messages(exploration), []);
  assert.equal(exploration.tried["crd deletion"], 1);
});
