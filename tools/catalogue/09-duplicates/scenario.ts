import type { Program, Scenario } from "@konverge/testing";
import { app } from "../lib/app.ts";
import { reaches } from "../lib/steps.ts";

/** An App has two members. */
export const members =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { size: 2 }));
    await reaches(environment, "a", "2 of 2");
  };
