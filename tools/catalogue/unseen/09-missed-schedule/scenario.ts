import type { Program, Scenario } from "@konverge/testing";
import { type App, app } from "../../lib/app.ts";
import { reaches } from "../../lib/steps.ts";

/** A backup is due this long after an App was created. */
const BACKUP_AFTER_MS = 10 * 60_000;

/** When the backup of an App is due. */
export function dueAt({ metadata }: App): number {
  return Date.parse(metadata.creationTimestamp ?? "") + BACKUP_AFTER_MS;
}

/** An App is backed up when its schedule says so. */
export const backedUp =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { image: "example/backup:1" }));
    await reaches(environment, "a", "BackedUp");
  };
