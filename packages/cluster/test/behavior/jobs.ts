import assert from "node:assert/strict";
import { Job, Pod } from "@konverge/kinds";
import { assertEvent, type Behavior, conditionOf, end, find, podsOf, type Stage, template } from "./stage.ts";

function job({ namespace }: Stage, more: object = {}, name = "work") {
  const pod = template("work:1", { restartPolicy: "Never" });
  return { metadata: { name, namespace }, spec: { template: pod, ...more } };
}

const get = ({ client, namespace }: Stage) => client.get(Job, `${namespace}/work`);
const running = async (stage: Stage) =>
  (await podsOf(stage)).filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
const podsAre = (stage: Stage, count: number) =>
  stage.until(`${count} pods run`, async () => (await running(stage)).length === count);
const indexOf = (pod: Pod) => pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"];

const becomes = (stage: Stage, type: string, reason: string) =>
  stage.until(
    `it is ${type} because of ${reason}`,
    async () => conditionOf(await get(stage), type) === `True ${reason}`,
  );

export const jobs: Record<string, Behavior> = {
  "a Job runs pods until enough have succeeded, counts them and lets them go": async (stage) => {
    await stage.client.create(Job, job(stage, { completions: 3, parallelism: 2 }));
    for (let done = 0; done < 3; done++) {
      await podsAre(stage, Math.min(2, 3 - done));
      const [pod] = await running(stage);
      assert.deepEqual(pod!.metadata.finalizers, ["batch.kubernetes.io/job-tracking"]);
      await end(stage, pod!);
      await stage.until("it is counted", async () => (await get(stage)).status?.succeeded === done + 1);
    }
    await becomes(stage, "Complete", "CompletionsReached");
    const { status } = await get(stage);
    assert.equal(conditionOf(await get(stage), "SuccessCriteriaMet"), "True CompletionsReached");
    assert.ok(status?.completionTime);
    assert.equal(status.active ?? 0, 0);
    assert.deepEqual(status.uncountedTerminatedPods ?? {}, {});
    for (const pod of await podsOf(stage)) assert.equal(pod.metadata.finalizers, undefined);
    await assertEvent(stage, "Job", "work", /^Normal SuccessfulCreate Created pod: work-/);
    await assertEvent(stage, "Job", "work", /^Normal Completed Job completed$/);
  },

  "a Job gives up when its pods have failed too often": async (stage) => {
    await stage.client.create(Job, job(stage, { backoffLimit: 0, parallelism: 2, completions: 2 }));
    await podsAre(stage, 2);
    const [first] = await running(stage);
    await end(stage, first!, 1);
    await becomes(stage, "Failed", "BackoffLimitExceeded");
    const stored = await get(stage);
    assert.equal(conditionOf(stored, "FailureTarget"), "True BackoffLimitExceeded");
    assert.equal(stored.status?.failed, 2);
    assert.equal((await running(stage)).length, 0);
    await assertEvent(
      stage,
      "Job",
      "work",
      /^Warning BackoffLimitExceeded Job has reached the specified backoff limit$/,
    );
  },

  "a failed pod is replaced after a while": async (stage) => {
    await stage.client.create(Job, job(stage));
    await podsAre(stage, 1);
    const [first] = await running(stage);
    await end(stage, first!, 1);
    await stage.until("the failure is counted", async () => (await get(stage)).status?.failed === 1);
    assert.equal((await running(stage)).length, 0);
    await podsAre(stage, 1);
    await end(stage, (await running(stage))[0]!);
    await becomes(stage, "Complete", "CompletionsReached");
  },

  "an indexed Job runs one pod for each index": async (stage) => {
    await stage.client.create(Job, job(stage, { completionMode: "Indexed", completions: 3, parallelism: 3 }));
    await podsAre(stage, 3);
    const pods = await running(stage);
    assert.deepEqual(pods.map(indexOf).sort(), ["0", "1", "2"]);
    for (const pod of pods) {
      assert.equal(pod.spec?.hostname, `work-${indexOf(pod)}`);
      assert.equal(pod.metadata.generateName, `work-${indexOf(pod)}-`);
      assert.equal(pod.metadata.labels?.["batch.kubernetes.io/job-completion-index"], indexOf(pod));
      assert.equal(pod.spec?.containers[0]?.env?.[0]?.name, "JOB_COMPLETION_INDEX");
    }
    for (const index of ["0", "2"]) await end(stage, pods.find((pod) => indexOf(pod) === index)!);
    await stage.until("two indexes are complete", async () => (await get(stage)).status?.completedIndexes === "0,2");
    await end(stage, pods.find((pod) => indexOf(pod) === "1")!);
    await becomes(stage, "Complete", "CompletionsReached");
    assert.equal((await get(stage)).status?.completedIndexes, "0-2");
  },

  "an indexed Job can grow and shrink": async (stage) => {
    const { client, namespace } = stage;
    await client.create(Job, job(stage, { completionMode: "Indexed", completions: 2, parallelism: 2 }));
    await podsAre(stage, 2);
    await client.patch(Job, `${namespace}/work`, { merge: { spec: { completions: 4, parallelism: 4 } } });
    await podsAre(stage, 4);
    await client.patch(Job, `${namespace}/work`, { merge: { spec: { completions: 1, parallelism: 1 } } });
    await podsAre(stage, 1);
    const [left] = await running(stage);
    assert.equal(indexOf(left!), "0");
    await end(stage, left!);
    await becomes(stage, "Complete", "CompletionsReached");
  },

  "with a limit for each index, one index fails and the others go on": async (stage) => {
    await stage.client.create(
      Job,
      job(stage, { completionMode: "Indexed", completions: 2, parallelism: 2, backoffLimitPerIndex: 0 }),
    );
    await podsAre(stage, 2);
    const pods = await running(stage);
    await end(stage, pods.find((pod) => indexOf(pod) === "0")!, 1);
    await stage.until("index 0 has failed", async () => (await get(stage)).status?.failedIndexes === "0");
    await end(stage, pods.find((pod) => indexOf(pod) === "1")!);
    await becomes(stage, "Failed", "FailedIndexes");
    assert.equal((await get(stage)).status?.completedIndexes, "1");
  },

  "a pod failure policy can fail the Job at once, or overlook a failure": async (stage) => {
    const rules = [
      { action: "FailJob", onExitCodes: { containerName: "main", operator: "In", values: [42] } },
      { action: "Ignore", onExitCodes: { operator: "In", values: [7] } },
    ];
    await stage.client.create(Job, job(stage, { podFailurePolicy: { rules }, backoffLimit: 0 }));
    await podsAre(stage, 1);
    await end(stage, (await running(stage))[0]!, 7);
    await stage.until("the pod is replaced", async () => (await running(stage)).length === 1);
    assert.equal((await get(stage)).status?.failed ?? 0, 0);
    const [second] = await running(stage);
    await end(stage, second!, 42);
    await becomes(stage, "Failed", "PodFailurePolicy");
    const message = (await get(stage)).status?.conditions?.find(({ type }) => type === "Failed")?.message;
    const { namespace, name } = second!.metadata;
    assert.equal(
      message,
      `Container main for pod ${namespace}/${name} failed with exit code 42 matching FailJob rule at index 0`,
    );
  },

  "a success policy ends the Job early": async (stage) => {
    const successPolicy = { rules: [{ succeededIndexes: "1" }] };
    await stage.client.create(
      Job,
      job(stage, { completionMode: "Indexed", completions: 3, parallelism: 3, successPolicy }),
    );
    await podsAre(stage, 3);
    await end(stage, (await running(stage)).find((pod) => indexOf(pod) === "1")!);
    await becomes(stage, "Complete", "SuccessPolicy");
    assert.equal((await get(stage)).status?.completedIndexes, "1");
    await stage.until("no pod runs", async () => (await running(stage)).length === 0);
  },

  "a suspended Job has no pods until it is resumed": async (stage) => {
    const { client, namespace } = stage;
    await client.create(Job, job(stage, { suspend: true }));
    await stage.until("it says so", async () => conditionOf(await get(stage), "Suspended") === "True JobSuspended");
    assert.equal((await podsOf(stage)).length, 0);
    assert.equal((await get(stage)).status?.startTime, undefined);
    await client.patch(Job, `${namespace}/work`, { merge: { spec: { suspend: false } } });
    await podsAre(stage, 1);
    await stage.until("it says so", async () => conditionOf(await get(stage), "Suspended") === "False JobResumed");
    await client.patch(Job, `${namespace}/work`, { merge: { spec: { suspend: true } } });
    await podsAre(stage, 0);
    await assertEvent(stage, "Job", "work", /^Normal Suspended Job suspended$/);
  },

  "pods of a Job that is suspended or gets fewer of them have not failed": async (stage) => {
    const { client, namespace } = stage;
    const change = (spec: object) => client.patch(Job, `${namespace}/work`, { merge: { spec } });
    await client.create(Job, job(stage, { parallelism: 3, completions: 3, backoffLimit: 0 }));
    await podsAre(stage, 3);
    await change({ parallelism: 2 });
    await podsAre(stage, 2);
    await change({ suspend: true });
    await podsAre(stage, 0);
    await stage.until("it says so", async () => conditionOf(await get(stage), "Suspended") === "True JobSuspended");
    await change({ suspend: false, parallelism: 3 });
    await podsAre(stage, 3);
    for (const pod of await running(stage)) await end(stage, pod);
    await becomes(stage, "Complete", "CompletionsReached");
    assert.equal((await get(stage)).status?.failed ?? 0, 0);
  },

  "a Job that takes too long is stopped": async (stage) => {
    await stage.client.create(Job, job(stage, { activeDeadlineSeconds: 3 }));
    await podsAre(stage, 1);
    await becomes(stage, "Failed", "DeadlineExceeded");
    await stage.until("no pod runs", async () => (await running(stage)).length === 0);
  },

  "a Job is forgotten some time after it has ended, and its pods with it": async (stage) => {
    await stage.client.create(Job, job(stage, { ttlSecondsAfterFinished: 2 }));
    await podsAre(stage, 1);
    await end(stage, (await running(stage))[0]!);
    await stage.until("the Job is gone", async () => !(await find(stage, Job, `${stage.namespace}/work`)));
    await stage.until(
      "the pod is gone",
      async () => (await stage.client.list(Pod, { namespace: stage.namespace })).items.length === 0,
    );
  },

  "a Job that is deleted takes along its pods, also those that it has not counted": async (stage) => {
    const { client, namespace } = stage;
    await client.create(Job, job(stage, { parallelism: 2, completions: 2 }));
    await podsAre(stage, 2);
    await client.delete(Job, `${namespace}/work`, { propagationPolicy: "Foreground" });
    await stage.until("all is gone", async () => {
      return (
        !(await find(stage, Job, `${namespace}/work`)) && (await client.list(Pod, { namespace })).items.length === 0
      );
    });
  },
};
