import assert from "node:assert/strict";
import { test } from "node:test";
import { Pod } from "@konverge/kinds";
import { runScenario } from "../environment/run-scenario.ts";
import { disturbWorld } from "./disturb-world.ts";
import type { World } from "./world.ts";

test("a Job that another client deletes takes its pods with it, as with kubectl", () =>
  runScenario(async (environment) => {
    const { clock, namespace } = environment;
    await environment.apply({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "once" },
      spec: {
        template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "example/once:1" }] } },
      },
    });
    await environment.until("the Job has a pod", async () => (await environment.list(Pod)).length === 1);
    const world = { clock, client: environment.cluster!.client, namespace } as Partial<World> as World;
    const target = { group: "batch", version: "v1", plural: "jobs", name: "once" };
    await disturbWorld({ type: "delete", at: { on: "end", what: "", nth: 1 }, target, recreate: false }, world);
    await environment.advance(60_000);
    assert.deepEqual(await environment.list(Pod), []);
  }, {}));
