import assert from "node:assert/strict";
import { test } from "node:test";
import { CronJob, Event, Job } from "@konverge/kinds";
import { end, eventsAbout, podsOf, template } from "./stage.ts";
import { during, type VirtualStage, virtualStage } from "./stages.ts";

const HOUR = 3_600_000;
const jobTemplate = { spec: { template: template("work:1", { restartPolicy: "Never" }) } };

async function onStage(
  options: { seed?: number; shuffle?: boolean },
  play: (stage: VirtualStage) => Promise<void>,
): Promise<void> {
  const stage = await virtualStage(options);
  try {
    await play(stage);
  } finally {
    await during(stage.clock, stage.cluster.stop());
  }
}

const cronJob = ({ namespace }: VirtualStage, name: string, schedule: string, more: object = {}) => ({
  metadata: { name, namespace },
  spec: { schedule, jobTemplate, ...more },
});

/** Ends all pods that run, some of them badly. */
async function work(stage: VirtualStage, fails: (name: string) => boolean = () => false): Promise<void> {
  for (const pod of await podsOf(stage)) {
    const { phase } = pod.status ?? {};
    if (phase !== "Succeeded" && phase !== "Failed") await end(stage, pod, fails(pod.metadata.name) ? 1 : 0);
  }
}

test("a CronJob starts Jobs on time, keeps the newest and says what it did", () =>
  onStage({}, async (stage) => {
    const { client, namespace } = stage;
    await client.create(CronJob, cronJob(stage, "hourly", "@hourly"));
    for (let hour = 0; hour < 6; hour++) {
      await stage.pass(HOUR);
      await work(stage);
      await stage.pass(1000);
    }
    const jobs = (await client.list(Job, { namespace })).items;
    assert.equal(jobs.length, 3);
    const sixth = (Date.UTC(2026, 0, 1) + 6 * HOUR) / 60_000;
    assert.ok(jobs.some(({ metadata }) => metadata.name === `hourly-${sixth}`));
    const stored = await client.get(CronJob, `${namespace}/hourly`);
    assert.equal(stored.status?.lastScheduleTime, "2026-01-01T06:00:00Z");
    assert.ok(stored.status?.lastSuccessfulTime);
    const annotations = jobs.map(
      ({ metadata }) => metadata.annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"],
    );
    assert.ok(annotations.includes("2026-01-01T06:00:00Z"));
    const events = await eventsAbout(stage, "CronJob", "hourly");
    assert.ok(events.includes(`Normal SuccessfulCreate Created job hourly-${sixth}`), events.join("\n"));
    assert.ok(events.includes(`Normal SawCompletedJob Saw completed job: hourly-${sixth}, condition: Complete`));
  }));

test("Forbid leaves a start out while a Job runs, Replace ends it, Allow lets both run", () =>
  onStage({}, async (stage) => {
    const { client, namespace } = stage;
    for (const concurrencyPolicy of ["Allow", "Forbid", "Replace"] as const) {
      await client.create(
        CronJob,
        cronJob(stage, concurrencyPolicy.toLowerCase(), "*/10 * * * *", { concurrencyPolicy }),
      );
    }
    await stage.pass(35 * 60_000);
    const running = async (name: string) => (await client.get(CronJob, `${namespace}/${name}`)).status?.active?.length;
    assert.deepEqual([await running("allow"), await running("forbid"), await running("replace")], [3, 1, 1]);
    const jobs = (await client.list(Job, { namespace })).items.map(({ metadata }) => metadata.name);
    assert.deepEqual(jobs.map((name) => name.split("-")[0]).sort(), ["allow", "allow", "allow", "forbid", "replace"]);
    assert.ok((await eventsAbout(stage, "CronJob", "forbid")).some((line) => line.includes("JobAlreadyActive")));
  }));

test("a suspended CronJob starts nothing, and on its return only the last start that it missed", () =>
  onStage({}, async (stage) => {
    const { client, namespace } = stage;
    await client.create(CronJob, cronJob(stage, "held", "*/10 * * * *", { suspend: true }));
    await stage.pass(2 * HOUR + 5 * 60_000);
    assert.equal((await client.list(Job, { namespace })).items.length, 0);
    await client.patch(CronJob, `${namespace}/held`, { merge: { spec: { suspend: false } } });
    await stage.pass(1000);
    assert.equal((await client.list(Job, { namespace })).items.length, 1);
    assert.equal((await client.get(CronJob, `${namespace}/held`)).status?.lastScheduleTime, "2026-01-01T02:00:00Z");
  }));

test("a start that is too late is missed, and said to be", () =>
  onStage({}, async (stage) => {
    const { client, namespace } = stage;
    await client.create(CronJob, cronJob(stage, "late", "0 * * * *", { suspend: true, startingDeadlineSeconds: 60 }));
    await stage.pass(HOUR + 30 * 60_000);
    await client.patch(CronJob, `${namespace}/late`, { merge: { spec: { suspend: false } } });
    await stage.pass(1000);
    assert.equal((await client.list(Job, { namespace })).items.length, 0);
    await stage.pass(HOUR / 2);
    assert.equal((await client.list(Job, { namespace })).items.length, 1);
  }));

/** A day with CronJobs, back-offs and TTLs; the log of all events. */
async function day(seed: number): Promise<{ log: string[]; ms: number; jobs: number }> {
  const log: string[] = [];
  const started = performance.now();
  let jobs = 0;
  const events = new Set<string>();
  await onStage({ seed, shuffle: true }, async (stage) => {
    const { client, namespace } = stage;
    const ttl = { spec: { ...jobTemplate.spec, ttlSecondsAfterFinished: 600, backoffLimit: 2 } };
    await client.create(CronJob, cronJob(stage, "often", "*/30 * * * *", { jobTemplate: ttl }));
    await client.create(CronJob, cronJob(stage, "nightly", "30 3 * * *", { timeZone: "Europe/Berlin" }));
    for (let quarter = 0; quarter < 96; quarter++) {
      await stage.pass(15 * 60_000);
      await work(stage, (name) => name.charCodeAt(name.length - 1) % 2 === 0);
      // Events go after an hour.
      for (const { metadata, firstTimestamp, reason, message, count } of (await client.list(Event, { namespace }))
        .items) {
        events.add(`${firstTimestamp} ${metadata.name} ${reason} ${message} ${count}`);
      }
    }
    log.push(...events);
    jobs = log.filter((line) => line.includes(" SuccessfulCreate ")).length;
    log.push(
      JSON.stringify(
        (await client.list(Job, { namespace })).items.map(({ metadata, status }) => [metadata.name, status]),
      ),
    );
  });
  return { log, ms: performance.now() - started, jobs };
}

test("a day passes quickly, and the same seed gives the same day", async (t) => {
  const [first, second] = [await day(7), await day(7)];
  assert.ok(first.jobs > 40, `${first.jobs}`);
  assert.deepEqual(first.log, second.log);
  t.diagnostic(`a day of virtual time: ${Math.round(second.ms)} ms`);
});
