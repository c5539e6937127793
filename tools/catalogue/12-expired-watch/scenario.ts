import type { Program, Scenario } from "@konverge/testing";
import { app } from "../lib/app.ts";
import { reaches } from "../lib/steps.ts";

/** Apps are created one after the other. */
export const oneByOne =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    for (const name of ["a", "b"]) {
      await environment.apply(app(name));
      await reaches(environment, name, "Ready");
    }
  };
