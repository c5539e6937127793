import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { KubeObject } from "@konverge/core";
import { operators, samplesOf } from "@konverge/operators";
import { greetingOperator } from "../../test/greeting-operator.ts";
import { chosenSamples, NEEDS_REAL_PROGRAM } from "./chosen-samples.ts";
import { convergenceOf } from "./convergence.ts";
import { demo } from "./demo.ts";
import { LiveView } from "./live-view.ts";

const withStatus = (status: object, generation = 1) =>
  ({ apiVersion: "v1", kind: "Any", metadata: { name: "a", generation }, status }) as unknown as KubeObject;
const condition = (type: string, status: string, message = "") => ({ type, status, message, reason: `${type}Reason` });

test("an object has converged when its phase, its state or its conditions say so", () => {
  const judged = (status: object, generation?: number) => convergenceOf(withStatus(status, generation));
  assert.deepEqual(judged({ phase: "Running" }), { done: true, message: "Running" });
  assert.deepEqual(judged({ state: "successful" }), { done: true, message: "successful" });
  assert.deepEqual(judged({ conditions: [condition("Ready", "True", "2 of 2")] }), { done: true, message: "2 of 2" });
  assert.deepEqual(judged({ phase: "Failed", conditions: [condition("Ready", "False", "no GPU")] }), {
    done: false,
    message: "Failed: no GPU",
  });
  assert.equal(judged({ conditions: [condition("Ready", "False")] }).message, "ReadyReason");
  assert.equal(judged({ phase: "Running", observedGeneration: 1 }, 2).done, false);
  assert.equal(convergenceOf(undefined).done, false);
});

test("what runs to an end has converged at its end, and not when it has begun", () => {
  const judged = (status: object) => convergenceOf(withStatus(status));
  const begun = { phase: "Running", conditions: [condition("Ready", "Unknown", "the backup is being taken")] };
  assert.deepEqual(judged(begun), { done: false, message: "Running: the backup is being taken" });
  const ended = { phase: "Completed", conditions: [condition("Ready", "True", "taken")] };
  assert.deepEqual(judged(ended), { done: true, message: "Completed" });
  const training = [condition("Ready", "True", "2 of 2 workers run"), condition("Succeeded", "False")];
  assert.equal(judged({ phase: "Running", conditions: training }).done, true);
});

test("every operator brings samples of its kinds", () => {
  for (const operator of operators) {
    const shown = chosenSamples(operator, samplesOf(operator)).filter(({ kind }) => kind);
    assert.ok(shown.length > 0, `${operator.name} has no samples`);
    assert.ok(!shown.some(({ kind }) => NEEDS_REAL_PROGRAM.has(kind!.kind)), "simulated nodes cannot make it ready");
  }
});

test("what only configures others is created, and not waited for", () => {
  const kubeflow = operators.find(({ name }) => name === "kubeflow-operator")!;
  const runtime = chosenSamples(kubeflow, samplesOf(kubeflow)).find(
    ({ object }) => object.kind === "ClusterTrainingRuntime",
  );
  assert.ok(runtime);
  assert.equal(runtime.kind, undefined);
});

test("a view prints changes where it cannot draw, and draws where it can", () => {
  const written: string[] = [];
  const screen = { write: (text: string) => written.push(text) };
  const rows = [{ name: "Any a", done: false, message: "waits" }];
  const view = new LiveView(screen);
  view.show(rows, []);
  view.show(rows, []);
  assert.deepEqual(written, ["waiting              Any a: waits\n"]);
  written.length = 0;
  const drawn = new LiveView({ ...screen, isTTY: true, columns: 30 });
  const activity = { operator: "any-operator", writes: 1, last: "apply ConfigMap default/a" };
  drawn.show(rows, [activity]);
  drawn.show(rows, [activity]);
  assert.ok(written[1]!.startsWith("\x1b[3A"), "the second drawing begins where the first began");
  for (const line of written[0]!.split("\n").slice(0, -1)) assert.ok(line.replace("\x1b[2K", "").length < 30);
});

test("a problem is shown whole on a narrow terminal, and redrawn as often as it has lines", () => {
  const written: string[] = [];
  const view = new LiveView({ write: (text: string) => written.push(text), isTTY: true, columns: 30 });
  const problem = "src/operator.ts:12:3: the property texts does not exist: did you mean text";
  const words = (text: string) =>
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with this character
      .replace(/\x1b\[[0-9;]*[A-Za-z]/g, "")
      .split(/\s+/)
      .filter(Boolean)
      .join(" ");
  view.show([], [], [problem]);
  assert.equal(words(written[0]!), `✖ ${problem}`);
  view.show([], [], [problem]);
  const lines = written[0]!.split("\n").length - 1;
  assert.ok(written[1]!.startsWith(`\x1b[${lines}A`), "the second drawing begins where the first began");
});

test("the demo deploys operators, follows their samples, and names what does not converge", async () => {
  const written: string[] = [];
  const left = await demo({
    operators: [greetingOperator],
    module: fileURLToPath(new URL("../../test/greeting-operator.ts", import.meta.url)),
    exit: true,
    timeout: 1,
    stop: new AbortController().signal,
    screen: { write: (text) => written.push(text) },
    console: true,
  });
  assert.deepEqual(left, ["Greeting (no sample has one)"]);
  const text = written.join("");
  assert.match(text, /See it in the browser:\n {2}http:\/\/127\.0\.0\.1:\d+\/\?token=\w{40}\n/);
  assert.match(text, /export KUBECONFIG=\S+kubeconfig\n/);
  assert.match(text, /deployment\.apps\/greeting-operator is available/);
  assert.match(text, /greeting-operator +(at work|greeting-operator-\S+ leads)/);
});
