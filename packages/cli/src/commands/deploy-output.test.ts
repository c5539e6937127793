import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { commandStage } from "../../test/command-stage.ts";
import { deployCommands } from "./deploy.ts";

const MODULE = fileURLToPath(new URL("../../test/greeting-operator.ts", import.meta.url));
const CRD = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  name: "greetings.test.example.com",
};

/** Runs a command with --output json; returns what a program reads from its standard output. */
async function output(t: TestContext, name: string, ...words: string[]) {
  const log = t.mock.method(console, "log", () => {});
  const error = t.mock.method(console, "error", () => {});
  const command = deployCommands().find((one) => one.name() === name)!;
  const failure = await command
    .parseAsync([MODULE, ...words, "--output", "json"], { from: "user" })
    .then(() => undefined, String);
  const printed = log.mock.calls.map(({ arguments: words }) => words.join(" ")).join("\n");
  const told = error.mock.calls.map(({ arguments: words }) => words.join(" "));
  log.mock.restore();
  error.mock.restore();
  return { ...(JSON.parse(printed) as { dryRun: boolean; objects: object[] }), told, failure };
}

test("--output json prints what became of each object, and nothing else, on standard output", async (t) => {
  await using stage = await commandStage();
  const where = ["--kubeconfig", stage.kubeconfig, "--namespace", "ops"];
  const first = await output(t, "install", ...where, "--dry-run");
  assert.deepEqual([first.dryRun, first.objects], [true, [{ ...CRD, change: "created" }]]);
  assert.match(first.told[0]!, /serves v1 alone/);
  assert.deepEqual((await output(t, "install", ...where)).objects, [{ ...CRD, change: "created" }]);
  const image = ["--image", "example/greeting:v1", "--no-wait"];
  const deployed = await output(t, "deploy", ...where, ...image);
  assert.equal(deployed.dryRun, false);
  const deployment = { apiVersion: "apps/v1", kind: "Deployment", namespace: "ops", name: "greeting-operator" };
  for (const one of [
    { ...CRD, change: "configured" },
    { apiVersion: "v1", kind: "Namespace", name: "ops", change: "created" },
    { ...deployment, change: "created" },
  ])
    assert.ok(
      deployed.objects.some((object) => JSON.stringify(object) === JSON.stringify(one)),
      JSON.stringify(deployed.objects),
    );
  const { objects } = await output(t, "undeploy", ...where);
  assert.ok(objects.some((object) => JSON.stringify(object) === JSON.stringify({ ...deployment, change: "deleted" })));
  assert.deepEqual((await output(t, "uninstall", ...where)).objects, [{ ...CRD, change: "deleted" }]);
});

test("what was changed before a failure is in the output, too", async (t) => {
  await using stage = await commandStage({ nodes: [] });
  const where = ["--kubeconfig", stage.kubeconfig, "--namespace", "ops"];
  const { objects, failure } = await output(t, "deploy", ...where, "--image", "example/none:v1", "--timeout", "0");
  assert.match(failure!, /deployment ops\/greeting-operator is not available after 0 s/);
  assert.ok(objects.length > 5);
});
