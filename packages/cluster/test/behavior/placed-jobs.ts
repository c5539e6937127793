import assert from "node:assert/strict";
import { CronJob, Job, Pod } from "@konverge/kinds";
import { makeNodes, placed, type SimulatedBehavior } from "./placed.ts";
import { assertEvent, type Behavior, conditionOf, eventsAbout, find, podsOf, type Stage } from "./stage.ts";

const DONE: SimulatedBehavior = { "run-duration": "500ms" };
const FAILS: SimulatedBehavior = { "run-duration": "500ms", "exit-code": "3" };
const LONG: SimulatedBehavior = { "run-duration": "1h" };

const jobSpec = (stage: Stage, sim: SimulatedBehavior, more: object = {}) => ({
  template: placed(stage, { sim, spec: { restartPolicy: "Never" } }),
  ...more,
});

const job = (stage: Stage, sim: SimulatedBehavior, more: object = {}) =>
  stage.client.create(Job, {
    metadata: { name: "work", namespace: stage.namespace },
    spec: jobSpec(stage, sim, more),
  });

const get = ({ client, namespace }: Stage) => client.get(Job, `${namespace}/work`);
const becomes = (stage: Stage, type: string, reason: string) =>
  stage.until(
    `it is ${type} because of ${reason}`,
    async () => conditionOf(await get(stage), type) === `True ${reason}`,
  );
const phases = async (stage: Stage) => (await podsOf(stage)).map(({ status }) => status?.phase).sort();

export const placedJobs: Record<string, Behavior> = {
  "a Job's pods run to their end, no more at a time than allowed": async (stage) => {
    await makeNodes(stage, 2);
    await job(stage, DONE, { completions: 4, parallelism: 2 });
    await stage.until("it is complete", async () => {
      const active = (await podsOf(stage)).filter(({ status }) => status?.phase === "Running").length;
      assert.ok(active <= 2, `${active} run at the same time`);
      return conditionOf(await get(stage), "Complete") === "True CompletionsReached";
    });
    const { status } = await get(stage);
    assert.deepEqual([status?.succeeded, status?.failed ?? 0, status?.active ?? 0], [4, 0, 0]);
    assert.deepEqual(await phases(stage), ["Succeeded", "Succeeded", "Succeeded", "Succeeded"]);
    assert.ok(Date.parse(status!.completionTime!) >= Date.parse(status!.startTime!));
  },

  "a Job whose pods fail tries again, then gives up": async (stage) => {
    await makeNodes(stage, 1);
    await job(stage, FAILS, { backoffLimit: 1 });
    await becomes(stage, "Failed", "BackoffLimitExceeded");
    assert.equal((await get(stage)).status?.failed, 2);
    assert.deepEqual(await phases(stage), ["Failed", "Failed"]);
    await assertEvent(stage, "Job", "work", /^Warning BackoffLimitExceeded /);
  },

  "an indexed Job completes all indexes, each on a pod of its own": async (stage) => {
    await makeNodes(stage, 2);
    await job(stage, DONE, { completionMode: "Indexed", completions: 3, parallelism: 3 });
    await becomes(stage, "Complete", "CompletionsReached");
    assert.equal((await get(stage)).status?.completedIndexes, "0-2");
  },

  "an exit code can fail the Job at once": async (stage) => {
    await makeNodes(stage, 1);
    const rules = [{ action: "FailJob", onExitCodes: { operator: "In", values: [3] } }];
    await job(stage, FAILS, { podFailurePolicy: { rules }, backoffLimit: 6 });
    await becomes(stage, "Failed", "PodFailurePolicy");
    assert.equal((await get(stage)).status?.failed, 1);
  },

  "a Job that is suspended gives up its running pods, and finishes after it is resumed": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 1);
    await job(stage, { "run-duration": "4s" }, { parallelism: 2, completions: 2 });
    await stage.until("both run", async () => String(await phases(stage)) === "Running,Running");
    await client.patch(Job, `${namespace}/work`, { merge: { spec: { suspend: true } } });
    await stage.until("none is left", async () => (await client.list(Pod, { namespace })).items.length === 0);
    assert.equal(conditionOf(await get(stage), "Suspended"), "True JobSuspended");
    await client.patch(Job, `${namespace}/work`, { merge: { spec: { suspend: false } } });
    await becomes(stage, "Complete", "CompletionsReached");
    await assertEvent(stage, "Job", "work", /^Normal Resumed Job resumed$/);
  },

  "a Job that takes too long is ended with its running pods": async (stage) => {
    await makeNodes(stage, 1);
    await job(stage, LONG, { activeDeadlineSeconds: 3 });
    await becomes(stage, "Failed", "DeadlineExceeded");
    await stage.until("its pod is gone", async () => (await podsOf(stage)).length === 0);
  },

  "a Job and its pods are forgotten some time after the end": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 1);
    await job(stage, DONE, { ttlSecondsAfterFinished: 1 });
    await stage.until("all is gone", async () => {
      return (
        !(await find(stage, Job, `${namespace}/work`)) && (await client.list(Pod, { namespace })).items.length === 0
      );
    });
  },

  "a Job counts a pod that is deleted as failed, and starts another": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 1);
    await job(stage, { "run-duration": "5s" });
    await stage.until("its pod runs", async () => String(await phases(stage)) === "Running");
    const [first] = await podsOf(stage);
    await client.delete(Pod, `${namespace}/${first!.metadata.name}`);
    await becomes(stage, "Complete", "CompletionsReached");
    assert.equal((await get(stage)).status?.failed, 1);
    assert.equal((await get(stage)).status?.succeeded, 1);
  },

  "a CronJob starts a Job at the turn of the minute and sees it through": async (stage) => {
    const { client, namespace } = stage;
    await makeNodes(stage, 1);
    await client.create(CronJob, {
      metadata: { name: "tick", namespace },
      spec: { schedule: "* * * * *", jobTemplate: { spec: jobSpec(stage, DONE) } },
    });
    const cron = () => client.get(CronJob, `${namespace}/tick`);
    await stage.until("a Job has succeeded", async () => (await cron()).status?.lastSuccessfulTime !== undefined);
    const [made] = (await client.list(Job, { namespace })).items;
    const scheduled = made!.metadata.annotations!["batch.kubernetes.io/cronjob-scheduled-timestamp"]!;
    assert.equal(made!.metadata.name, `tick-${Date.parse(scheduled) / 60_000}`);
    assert.match(scheduled, /:00Z$/);
    assert.ok(Date.parse((await cron()).status!.lastScheduleTime!) >= Date.parse(scheduled));
    assert.equal(made!.metadata.ownerReferences?.[0]?.kind, "CronJob");
    const events = await eventsAbout(stage, "CronJob", "tick");
    assert.ok(events.includes(`Normal SuccessfulCreate Created job ${made!.metadata.name}`), events.join("\n"));
    assert.ok(events.includes(`Normal SawCompletedJob Saw completed job: ${made!.metadata.name}, condition: Complete`));
    await client.delete(CronJob, `${namespace}/tick`, { propagationPolicy: "Background" });
    await stage.until("all is gone", async () => (await client.list(Pod, { namespace })).items.length === 0);
  },
};
