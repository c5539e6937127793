import type { Program, Scenario } from "@konverge/testing";
import { app } from "../../lib/app.ts";
import { reaches } from "../../lib/steps.ts";

/** An App has a ConfigMap. */
export const started =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a"));
    await reaches(environment, "a", "Running");
  };
