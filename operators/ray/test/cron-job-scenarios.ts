import assert from "node:assert/strict";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { RayCronJob, RayJob, rayOperator } from "@konverge/ray-operator";
import { play } from "./job-scenarios.ts";
import { sample } from "./scenarios.ts";

const EVERY_MINUTE = sample("cron-job").replace('"45 21 * * *"', '"* * * * *"');
const jobs = async (stage: TestEnvironment) => (await stage.list(RayJob)).map(({ metadata }) => metadata.name).sort();

/** Jobs start when they are due, stay when they have ended, and go with their schedule. */
export const scheduled: Scenario = (stage) => startsEveryMinute(stage, 2);

/** The least of it, for a test that waits for the minutes. */
export const scheduledOnce: Scenario = (stage) => startsEveryMinute(stage, 1);

async function startsEveryMinute(stage: TestEnvironment, count: number): Promise<void> {
  play(stage);
  await stage.start(rayOperator);
  await stage.apply(EVERY_MINUTE);
  await stage.until(`jobs have started: ${count}`, async () => (await jobs(stage)).length === count, 300_000);
  const key = `${stage.namespace}/evening`;
  await stage.client.patch(RayCronJob, key, { merge: { spec: { suspend: true } } });
  await stage.until(
    "it is suspended",
    async () => (await stage.condition(RayCronJob, "evening", "Ready")) === "True Suspended",
  );
  const started = await jobs(stage);
  const { status } = await stage.get(RayCronJob, "evening");
  const last = Math.max(...started.map((name) => Number(name.split("-").at(-1))));
  assert.equal(Date.parse(status!.lastScheduleTime!), last * 60_000);
  await stage.until(
    "the jobs have ended",
    async () => (await stage.list(RayJob)).every((job) => job.status?.jobDeploymentStatus === "Complete"),
    600_000,
  );
  assert.deepEqual(await jobs(stage), started);
  await stage.client.delete(RayCronJob, key);
  await stage.until("nothing is left", async () => (await jobs(stage)).length === 0);
}

/** A schedule that nothing can follow is refused. */
export const badSchedules: Scenario = async (stage) => {
  await stage.start(rayOperator);
  const refused = (from: string, to: string, message: RegExp) =>
    assert.rejects(stage.apply(sample("cron-job").replace(from, to)), message);
  await refused("45 21", "75 21", /spec\.schedule/);
  await refused("Asia/Taipei", "Asia/Atlantis", /spec\.timeZone/);
  await refused("45 21", "TZ=UTC 45 21", /set spec\.timeZone instead/);
  await refused("entrypoint: ", "jobId: ", /spec\.jobTemplate\.entrypoint: Required value/);
};
