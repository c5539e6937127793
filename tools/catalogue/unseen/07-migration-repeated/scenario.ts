import type { Program, Scenario } from "@konverge/testing";
import { app } from "../../lib/app.ts";
import { changeSpec, reaches } from "../../lib/steps.ts";

export { hasCompleted, migration } from "../03-job-of-earlier-spec/scenario.ts";

/** An App is migrated once, and then changes its size. */
export const migratedOnce =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { size: 1, image: "example/migrate:1" }));
    await reaches(environment, "a", "size 1");
    await changeSpec(environment, "a", { size: 2 });
    await reaches(environment, "a", "size 2");
  };
