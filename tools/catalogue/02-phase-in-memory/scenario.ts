import type { Program, Scenario } from "@konverge/testing";
import { app } from "../lib/app.ts";
import { changeSpec, reaches } from "../lib/steps.ts";

/** An App is created and changed; each change is an operation with a beginning and an end. */
export const operations =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { version: "1" }));
    await reaches(environment, "a", "Ready 1");
    await changeSpec(environment, "a", { version: "2" });
    await reaches(environment, "a", "Ready 2");
  };
