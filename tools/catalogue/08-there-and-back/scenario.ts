import type { Program, Scenario } from "@konverge/testing";
import { app } from "../lib/app.ts";
import { changeSpec, reaches } from "../lib/steps.ts";

/** An App shrinks by one member and grows again. */
export const thereAndBack =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { size: 3 }));
    await reaches(environment, "a", "3 of 3");
    await changeSpec(environment, "a", { size: 2 });
    await reaches(environment, "a", "2 of 2");
    await changeSpec(environment, "a", { size: 3 });
    await reaches(environment, "a", "3 of 3");
  };
