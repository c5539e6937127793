import type { Program, Scenario } from "@konverge/testing";
import { app } from "../../lib/app.ts";
import { reaches } from "../../lib/steps.ts";

/** The volume of an App is initialized by a Job. */
export const initialized =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { image: "example/initdb:1" }));
    await reaches(environment, "a", "Initialized");
  };
