import type { Job } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { type App, app } from "../../lib/app.ts";
import { changeSpec, ownedBy, reaches } from "../../lib/steps.ts";

/** A migration runs for each version of an App. */
export const migrated =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { version: "1", image: "example/migrate:1" }));
    await reaches(environment, "a", "migrated to 1");
    await changeSpec(environment, "a", { version: "2" });
    await reaches(environment, "a", "migrated to 2");
  };

/** The Job that migrates to the version of an App. */
export function migration(app: App, name: string): Job {
  const { namespace } = app.metadata;
  const { image = "", version } = app.spec;
  const containers = [{ name: "migrate", image, args: [version] }];
  return {
    metadata: { name, namespace, labels: { app: app.metadata.name }, ...ownedBy(app) },
    spec: { template: { spec: { restartPolicy: "Never", containers } } },
  } as unknown as Job;
}

export function hasCompleted({ status }: Job): boolean {
  return status?.conditions?.some((one) => one.type === "Complete" && one.status === "True") ?? false;
}
