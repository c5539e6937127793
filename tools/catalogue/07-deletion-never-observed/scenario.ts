import type { Program, Scenario } from "@konverge/testing";
import { App, app } from "../lib/app.ts";
import { reaches, removeApp, untilDeleted } from "../lib/steps.ts";

/** An App is deleted; a backup that the user makes holds it for ten seconds. */
export const deletion =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", {}, { finalizers: ["example.com/backup"] }));
    await reaches(environment, "a", "Ready");
    await removeApp(environment, "a");
    await environment.advance(10_000);
    const key = `${environment.namespace}/a`;
    await environment.client.patch(App, key, { json: [{ op: "remove", path: "/metadata/finalizers" }] });
    await untilDeleted(environment, App, "a");
  };
