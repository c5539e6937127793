import type { Program, Scenario } from "@konverge/testing";
import { app } from "../lib/app.ts";
import { changeSpec, reaches } from "../lib/steps.ts";

/** An App is upgraded: the object of its old version is replaced by one of the new version, which keeps the settings. */
export const upgrade =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { version: "1" }));
    await reaches(environment, "a", "1");
    await changeSpec(environment, "a", { version: "2" });
    await reaches(environment, "a", "2");
  };
