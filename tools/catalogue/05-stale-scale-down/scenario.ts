import type { Program, Scenario } from "@konverge/testing";
import { app } from "../lib/app.ts";
import { changeSpec, reaches } from "../lib/steps.ts";

/** An App grows from one volume to three. */
export const growth =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { size: 1 }));
    await reaches(environment, "a", "1 of 1");
    await changeSpec(environment, "a", { size: 3 });
    await reaches(environment, "a", "3 of 3");
  };
