import { PersistentVolumeClaim } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { App, app } from "../lib/app.ts";
import { reaches, removeApp, untilDeleted } from "../lib/steps.ts";

/** An App with a volume is deleted and created again under the same name. */
export const recreation =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a"));
    await reaches(environment, "a", "Ready");
    await removeApp(environment, "a");
    await untilDeleted(environment, App, "a");
    await untilDeleted(environment, PersistentVolumeClaim, "data-a");
    await environment.apply(app("a"));
    await reaches(environment, "a", "Ready");
  };
