import type { Program, Scenario } from "@konverge/testing";
import { app } from "../../lib/app.ts";
import { changeSpec, reaches } from "../../lib/steps.ts";

/** A user creates an App and changes its size. */
export const resized =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { size: 1 }));
    await reaches(environment, "a", "1 ready");
    await changeSpec(environment, "a", { size: 2 });
    await reaches(environment, "a", "2 ready");
  };
