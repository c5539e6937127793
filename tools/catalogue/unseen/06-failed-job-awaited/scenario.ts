import type { Job } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { type App, app } from "../../lib/app.ts";
import { ownedBy, reaches } from "../../lib/steps.ts";

/** An App is set up by a Job. */
export const setUp =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { image: "example/init:1" }));
    await reaches(environment, "a", "Ready");
  };

/** The Job that sets an App up. It has no retries. */
export function setup(app: App): Job {
  const { name, namespace } = app.metadata;
  const containers = [{ name: "init", image: app.spec.image ?? "" }];
  return {
    metadata: { name, namespace, labels: { app: name }, ...ownedBy(app) },
    spec: { backoffLimit: 0, template: { spec: { restartPolicy: "Never", containers } } },
  } as unknown as Job;
}

export function isTrue({ status }: Job, type: "Complete" | "Failed"): boolean {
  return status?.conditions?.some((one) => one.type === type && one.status === "True") ?? false;
}
