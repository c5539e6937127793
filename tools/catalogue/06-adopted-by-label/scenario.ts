import { ConfigMap } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { App, app } from "../lib/app.ts";
import { reaches, removeApp, untilDeleted } from "../lib/steps.ts";

/** An App is deleted, and when its member has drained, created again under the same name. */
export const replacement =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a"));
    await reaches(environment, "a", "Ready");
    await removeApp(environment, "a");
    await untilDeleted(environment, App, "a");
    await untilDeleted(environment, ConfigMap, "a-member");
    await environment.apply(app("a"));
    await reaches(environment, "a", "Ready");
  };
