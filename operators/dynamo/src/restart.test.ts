import assert from "node:assert/strict";
import { test } from "node:test";
import { DynamoComponentDeployment } from "./component-deployment.ts";
import { DynamoGraphDeployment } from "./graph-deployment.ts";
import { restartPlan } from "./restart.ts";

const graph = (type: "Sequential" | "Parallel") =>
  DynamoGraphDeployment.new({
    metadata: { name: "g" },
    spec: { services: {}, restart: { id: "two", strategy: { type } } },
  });
const component = (wanted: string, done: string) => ({
  ...DynamoComponentDeployment.new({ metadata: { name: "c" }, spec: { restartId: wanted } }),
  status: { restartId: done },
});

test("in sequence the second waits until the first runs the restart", () => {
  const before = restartPlan(graph("Sequential"), ["a", "b"], () => component("one", "one"));
  assert.deepEqual(
    [...before.ids],
    [
      ["a", "two"],
      ["b", "one"],
    ],
  );
  const half = restartPlan(graph("Sequential"), ["a", "b"], (name) =>
    name === "a" ? component("two", "two") : component("one", "one"),
  );
  assert.deepEqual(
    [...half.ids],
    [
      ["a", "two"],
      ["b", "two"],
    ],
  );
  assert.deepEqual(half.pending, ["b"]);
});

test("in parallel all go at once", () => {
  const plan = restartPlan(graph("Parallel"), ["a", "b"], () => component("one", "one"));
  assert.deepEqual([...plan.ids.values()], ["two", "two"]);
});

test("what is new has nothing to restart", () => {
  const plan = restartPlan(graph("Sequential"), ["a", "b"], () => undefined);
  assert.deepEqual([...plan.ids.values()], ["two", "two"]);
  assert.deepEqual(plan.pending, []);
});
