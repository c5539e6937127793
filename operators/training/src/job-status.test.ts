import assert from "node:assert/strict";
import { test } from "node:test";
import { exampleJob } from "../test/example-job.ts";
import { activeConditions } from "./job-status.ts";

test("an elastic job that trains with fewer workers than it asks for is not ready", () => {
  const job = exampleJob({ workers: 3, elastic: { minWorkers: 1, maxWorkers: 3 } });
  const conditions = (active: number, succeeded: number) =>
    activeConditions(job, { phase: "Running", active, succeeded }, undefined);
  const few = conditions(2, 0);
  assert.deepEqual(
    { Ready: few["Ready"], Progressing: few["Progressing"] },
    {
      Ready: { status: "False", reason: "WaitingForWorkers", message: "2 of 3 workers run" },
      Progressing: { status: "True", reason: "Training", message: "2 of 3 workers run" },
    },
  );
  assert.equal(conditions(3, 0)["Ready"]?.status, "True");
  assert.equal(conditions(1, 2)["Ready"]?.status, "True", "workers that have finished count");
});
