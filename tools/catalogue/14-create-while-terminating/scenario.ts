import { Pod } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { App, app } from "../lib/app.ts";
import { isGone, reaches, removeApp } from "../lib/steps.ts";

/** An App is deleted, and when its pod has stopped, created again. */
export const restart =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { image: "example/web:1" }));
    await reaches(environment, "a", "Ready");
    await environment.until(
      "the pod runs",
      async () => (await environment.find(Pod, "a"))?.status?.phase === "Running",
    );
    await removeApp(environment, "a");
    await isGone(environment, App, "a");
    await isGone(environment, Pod, "a");
    await environment.apply(app("a", { image: "example/web:1" }));
    await reaches(environment, "a", "Ready");
  };
