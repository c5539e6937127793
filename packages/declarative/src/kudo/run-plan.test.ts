import assert from "node:assert/strict";
import { test } from "node:test";
import { initializedPlans, startedPlan } from "./plan-status.ts";
import { FatalTaskError, runPlan, TransientTaskError } from "./run-plan.ts";

const NOW = "2026-01-01T00:00:00Z";

/** Runs a plan of phases with steps of one task each, once. Tasks do what their names say. */
async function ran(strategies: { plan: string; phase: string }, phases: readonly (readonly string[])[]) {
  const plan = {
    strategy: strategies.plan,
    phases: phases.map((steps, at) => ({
      name: `p${at}`,
      strategy: strategies.phase,
      steps: steps.map((name) => ({ name, tasks: [name] })),
    })),
  };
  const version = { spec: { plans: { deploy: plan } } } as never;
  const status = startedPlan(initializedPlans({}, version)["deploy"]!, "1", NOW);
  const called: string[] = [];
  const tasks = phases.flat().map((name) => ({ name }));
  const running = { name: "deploy", plan, tasks, status, instance: "default/shop", now: NOW };
  const run = await runPlan(running, async ({ name = "" }) => {
    called.push(name);
    if (name.startsWith("fatal")) throw new FatalTaskError("Reason", "broken");
    if (name.startsWith("fails")) throw new TransientTaskError("not yet");
    return name.startsWith("done");
  });
  return { ...run, called };
}

test("a serial plan stops at the first step that is not done", async () => {
  const { status, called } = await ran({ plan: "serial", phase: "serial" }, [["done", "waits", "after"], ["next"]]);
  assert.deepEqual(called, ["done", "waits"]);
  assert.equal(status.status, "IN_PROGRESS");
  const states = status.phases?.map((phase) => [phase.status, ...phase.steps!.map((step) => step.status)]);
  assert.deepEqual(states, [
    ["IN_PROGRESS", "COMPLETE", "IN_PROGRESS", "PENDING"],
    ["PENDING", "PENDING"],
  ]);
});

test("steps and phases side by side do not wait for each other", async () => {
  const { called } = await ran({ plan: "parallel", phase: "parallel" }, [["waits", "done"], ["next"]]);
  assert.deepEqual(called, ["waits", "done", "next"]);
});

test("a fatal error ends a plan, and a transient one does not", async () => {
  const fatal = await ran({ plan: "serial", phase: "serial" }, [["fatal", "after"]]);
  assert.equal(fatal.status.status, "FATAL_ERROR");
  assert.equal(
    fatal.status.phases?.[0]?.steps?.[0]?.message,
    "Error during execution: fatal error: default/shop failed in deploy.p0.fatal.fatal: broken",
  );
  const transient = await ran({ plan: "serial", phase: "serial" }, [["fails"]]);
  assert.equal(transient.status.status, "IN_PROGRESS");
  assert.equal(transient.status.phases?.[0]?.steps?.[0]?.status, "ERROR");
});
