import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap } from "@konverge/kinds";
import { type Exploration, explore, runScenario } from "@konverge/testing";
import { converges, greedy, sneaky, sound, Widget } from "./widgets.ts";

const messages = ({ findings }: Exploration) => findings.map(({ message }) => message);

test("a role that is exactly what is needed passes, and each rule is tried", async () => {
  const exploration = await explore(converges(sound), { faults: ["rbac"] });
  assert.deepEqual(messages(exploration), []);
  assert.equal(exploration.tried.rbac, 3, "widgets, their status, and configmaps");
});

test("a permission that is not needed is found", async () => {
  const exploration = await explore(converges(greedy), { faults: ["rbac"] });
  assert.deepEqual(messages(exploration), ["the role allows what no scenario needs: list secrets"]);
});

test("a permission that is missing is found, even if the operator hides it", async () => {
  const exploration = await explore(converges(sneaky), { faults: ["rbac"] });
  assert.match(messages(exploration)[0] ?? "", /does not allow what the operator does: .*cannot list resource/);
});

test("an operator that was crashed does nothing until it is started again, and then all it missed", async () => {
  await runScenario(async (stage) => {
    const running = await stage.start(sound);
    running.crash();
    const before = stage.writes();
    await stage.apply({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, spec: {} });
    await stage.settled();
    assert.equal(stage.writes(), before);
    assert.equal(await stage.find(ConfigMap, "w-a"), undefined);
    await running.restart();
    await stage.settled();
    assert.ok(await stage.find(ConfigMap, "w-a"));
    assert.match(await running.metrics(), /controller_runtime_reconcile_total\{.*result="success"\} [1-9]/);
  });
});

test("requests can be disturbed, and a wait that times out reports the current state", async () => {
  await runScenario(async (stage) => {
    await stage.start(sound);
    stage.injectFault(async (request, next) => {
      if (request.method === "GET") return next(request);
      return {
        status: 500,
        headers: {},
        body: '{"kind":"Status","status":"Failure","code":500,"message":"disturbed"}',
      };
    });
    await stage.apply({ apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" }, spec: {} });
    const waiting = stage.until(
      "there is a status",
      async () => (await stage.get(Widget, "w")).status?.text !== undefined,
      60_000,
    );
    await assert.rejects(
      waiting,
      /it never came true that there is a status[\s\S]*Widget w: no status[\s\S]*disturbed/,
    );
    stage.injectFault(undefined);
    await stage.until("it recovers", async () => (await stage.get(Widget, "w")).status?.text === "");
  });
});
