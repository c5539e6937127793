import type { Program, Scenario } from "@konverge/testing";
import { app } from "../lib/app.ts";
import { reaches } from "../lib/steps.ts";

/** The operator is updated: a new process replaces the old one while Apps have volumes. */
export const update =
  (program: Program): Scenario =>
  async (environment) => {
    const running = await environment.start(program);
    await environment.apply(app("a"));
    await reaches(environment, "a", "Ready");
    running.crash();
    await running.restart();
    await environment.apply(app("b"));
    await reaches(environment, "b", "Ready");
  };
