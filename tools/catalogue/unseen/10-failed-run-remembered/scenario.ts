import type { Job } from "@konverge/kinds";
import type { Program, Scenario } from "@konverge/testing";
import { app } from "../../lib/app.ts";
import { reaches } from "../../lib/steps.ts";

/** The next run begins this long after one that failed. */
export const RETRY_MS = 60_000;

/** An App is backed up. */
export const backedUp =
  (program: Program): Scenario =>
  async (environment) => {
    await environment.start(program);
    await environment.apply(app("a", { image: "example/backup:1" }));
    await reaches(environment, "a", "Complete");
  };

/** Runs in the order in which they began. */
export function inOrder(jobs: readonly Job[]): Job[] {
  const began = ({ metadata }: Job) => `${metadata.creationTimestamp} ${metadata.name}`;
  return jobs.toSorted((a, b) => (began(a) < began(b) ? -1 : 1));
}
