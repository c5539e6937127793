import assert from "node:assert/strict";
import type { Scenario } from "@konverge/operator-suite";
import { TrainingJob, trainingOperator } from "@konverge/training-operator";
import { operator } from "konverge";
import { Pod, Service } from "konverge/kinds";
import { admissionWebhook } from "konverge/webhooks";
import { endAll, endWorker, envOf, job, namesOf, podsOf, statusOf, untilPhase } from "./jobs.ts";

/** TensorFlow: workers get the addresses of parameter servers, which run until the workers are done. */
export const parameterServersServe: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(
    job("ps", { framework: "tensorflow", workers: 2, parameterServers: { count: 2 }, gpuPerWorker: 1 }),
  );
  await untilPhase(stage, "ps", "Running");
  const pods = await podsOf(stage, "ps");
  assert.deepEqual(namesOf(pods), ["ps-ps-0", "ps-ps-1", "ps-worker-0", "ps-worker-1"]);
  const host = (name: string) => `${name}.ps-workers.${stage.namespace}.svc:2222`;
  assert.deepEqual(JSON.parse(envOf(pods[1]!)["TF_CONFIG"]!), {
    cluster: { worker: [host("ps-worker-0"), host("ps-worker-1")], ps: [host("ps-ps-0"), host("ps-ps-1")] },
    task: { type: "ps", index: 1 },
    environment: "cloud",
  });
  assert.equal(envOf(pods[2]!)["RANK"], undefined);
  assert.equal(pods[0]!.spec!.containers[0]!.resources?.limits, undefined);
  assert.deepEqual(pods[2]!.spec!.containers[0]!.resources?.limits, { "nvidia.com/gpu": "1" });
  await endAll(stage, "ps");
  await untilPhase(stage, "ps", "Succeeded");
  await stage.until("the parameter servers are stopped, and the workers' pods are left for their logs", async () => {
    return namesOf(await podsOf(stage, "ps")).join() === "ps-worker-0,ps-worker-1";
  });
};

/** With successPolicy Chief, worker 0 alone decides. */
export const theChiefDecides: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("chief", { workers: 3, successPolicy: "Chief" }));
  await untilPhase(stage, "chief", "Running");
  await endWorker(stage, "chief-worker-1", 0);
  await stage.until("its completion is observed", async () => (await statusOf(stage, "chief")).succeeded === 1);
  assert.equal((await statusOf(stage, "chief")).phase, "Running");
  await endWorker(stage, "chief-worker-0", 0);
  await untilPhase(stage, "chief", "Succeeded");
  await stage.until("the worker that still ran is stopped", async () => {
    return namesOf(await podsOf(stage, "chief")).join() === "chief-worker-0,chief-worker-1";
  });
};

/** cleanPodPolicy All takes everything away but the job and what it reports. */
export const allIsCleanedUp: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("tidy", { cleanPodPolicy: "All" }));
  await untilPhase(stage, "tidy", "Running");
  await endAll(stage, "tidy");
  await untilPhase(stage, "tidy", "Succeeded");
  await stage.until("pods and Service are gone", async () => {
    return (await podsOf(stage, "tidy")).length === 0 && !(await stage.find(Service, "tidy-workers"));
  });
  await stage.settled();
  assert.deepEqual(
    (await statusOf(stage, "tidy")).workerStatuses?.map(({ status }) => status),
    ["Succeeded", "Succeeded"],
  );
  assert.equal(await stage.condition(TrainingJob, "tidy", "Ready"), "True TrainingSucceeded");
};

/** cleanPodPolicy None leaves even those that run. */
export const nothingIsCleanedUp: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("kept", { cleanPodPolicy: "None", restartPolicy: "Never" }));
  await untilPhase(stage, "kept", "Running");
  await endWorker(stage, "kept-worker-1", 1, { message: "ValueError: no such dataset" });
  await untilPhase(stage, "kept", "Failed");
  await stage.settled();
  const pods = await podsOf(stage, "kept");
  assert.deepEqual(
    pods.map(({ status }) => status?.phase),
    ["Running", "Failed"],
  );
  assert.equal(await stage.condition(TrainingJob, "kept", "Failed"), "True WorkerFailed");
};

/** A finished job is deleted after its time, and with it all that it owns. */
export const aFinishedJobIsDeleted: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("brief", { ttlSecondsAfterFinished: 5 }));
  await untilPhase(stage, "brief", "Running");
  await endAll(stage, "brief");
  await untilPhase(stage, "brief", "Succeeded");
  await stage.until("the job and its pods are gone", async () => {
    return !(await stage.find(TrainingJob, "brief")) && (await podsOf(stage, "brief")).length === 0;
  });
};

/** A training that takes too long fails, and its workers are stopped. */
export const aDeadlinePasses: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("late", { activeDeadlineSeconds: 10 }));
  await untilPhase(stage, "late", "Running");
  await untilPhase(stage, "late", "Failed");
  assert.equal(await stage.condition(TrainingJob, "late", "Failed"), "True DeadlineExceeded");
  await stage.until("its workers are stopped", async () => (await podsOf(stage, "late")).length === 0);
};

/** A job that cannot start in time fails. */
export const aStartDeadlinePasses: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(job("stuck", { startDeadlineSeconds: 10, nodeSelector: { "no-such": "label" } }));
  await untilPhase(stage, "stuck", "Failed");
  assert.equal(await stage.condition(TrainingJob, "stuck", "Failed"), "True StartDeadlineExceeded");
  assert.equal((await statusOf(stage, "stuck")).startTime, undefined);
};

/** A suspended job has no pods; when it is resumed, it starts the next attempt. */
export const aJobIsSuspendedAndResumed: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  const suspend = (value: boolean) =>
    stage.client.patch(TrainingJob, `${stage.namespace}/nap`, { merge: { spec: { suspend: value } } });
  await stage.apply(job("nap", { suspend: true, checkpointDir: "/ckpt", checkpointVolume: { claimName: "none-yet" } }));
  await stage.until("it is suspended", async () => {
    return (await stage.condition(TrainingJob, "nap", "Suspended")) === "True Suspended";
  });
  assert.equal((await podsOf(stage, "nap")).length, 0);
  assert.equal((await statusOf(stage, "nap")).phase, "Pending");
  // A queue that admits jobs sets their node selector while they are suspended.
  await stage.client.patch(TrainingJob, `${stage.namespace}/nap`, {
    merge: { spec: { nodeSelector: { "kubernetes.io/os": "linux" }, checkpointVolume: null, checkpointDir: null } },
  } as never);
  await suspend(false);
  await untilPhase(stage, "nap", "Running");
  assert.deepEqual((await podsOf(stage, "nap"))[0]!.spec!.nodeSelector, { "kubernetes.io/os": "linux" });
  await suspend(true);
  await stage.until("its pods are gone", async () => (await podsOf(stage, "nap")).length === 0);
  await stage.until("that is reported", async () => (await statusOf(stage, "nap")).startTime === undefined);
  assert.deepEqual((await statusOf(stage, "nap")).active, 0);
  await suspend(false);
  await untilPhase(stage, "nap", "Running");
  const { restarts, disruptions, startTime } = await statusOf(stage, "nap");
  assert.deepEqual([restarts, disruptions], [0, 0]);
  assert.ok(startTime);
  assert.equal(envOf((await podsOf(stage, "nap"))[0]!)["TRAINING_ATTEMPT"], "1");
  const events = await stage.events(TrainingJob, "nap");
  assert.ok(
    events.some((event) => event.startsWith("Normal Resumed")),
    events.join("\n"),
  );
};

const queued = (name: string) => {
  const made = job(name) as { metadata: { labels?: object } };
  made.metadata.labels = { "kueue.x-k8s.io/queue-name": "team-a" };
  return made;
};

/** Without Kueue, a job of a queue does not run past the quota that it was to have. */
export const aQueueIsNotServed: Scenario = async (stage) => {
  await stage.start(trainingOperator);
  await stage.apply(queued("queued"));
  await stage.until("it is refused", async () => {
    return (await stage.condition(TrainingJob, "queued", "Degraded")) === "True QueueNotServed";
  });
  assert.equal((await stage.list(Pod)).length, 0);
};

const GATE = "kueue.x-k8s.io/admission";
/** What Kueue does with pods of a queue as they are created. */
const kueue = operator({
  name: "kueue",
  description: "Holds pods of queues.",
  kinds: [],
  create: () => ({
    controllers: [],
    admissions: [
      admissionWebhook(Pod, {
        mutate(pod, { operation: what }) {
          if (what !== "CREATE" || !pod.metadata.labels?.["kueue.x-k8s.io/queue-name"]) return;
          pod.spec!.schedulingGates = [{ name: GATE }];
        },
      }),
    ],
  }),
});

/** With Kueue, the gang is a group of pods, which it lets start when there is quota for all. */
export const aQueuedJobStarts: Scenario = async (stage) => {
  await stage.start(kueue);
  await stage.start(trainingOperator);
  await stage.apply(queued("queued"));
  const pods = async () => podsOf(stage, "queued");
  await stage.until("its pods wait", async () => (await pods()).length === 2);
  await stage.settled();
  assert.equal((await statusOf(stage, "queued")).phase, "Pending");
  for (const { metadata } of await pods()) {
    assert.equal(metadata.labels?.["kueue.x-k8s.io/pod-group-name"], "queued-0");
    assert.equal(metadata.annotations?.["kueue.x-k8s.io/pod-group-total-count"], "2");
    await stage.client.patch(Pod, `${stage.namespace}/${metadata.name}`, {
      merge: { spec: { schedulingGates: [] } },
    } as never);
  }
  await untilPhase(stage, "queued", "Running");
};
