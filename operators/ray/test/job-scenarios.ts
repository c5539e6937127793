import assert from "node:assert/strict";
import type { Scenario, TestEnvironment } from "@konverge/operator-suite";
import { RayCluster, RayJob, rayOperator } from "@konverge/ray-operator";
import { Job, Pod } from "konverge/kinds";
import { sample } from "./scenarios.ts";

/** The sample, with a cluster that goes soon: a real control plane has no virtual time. */
export const JOB = sample("job").replace("ttlSecondsAfterFinished: 600", "ttlSecondsAfterFinished: 5");

/** What a submitting pod exits with, one after the other; the last one again and again. */
export type Exits = ("runs" | number)[];

/** Nodes of Ray that run, and submitting pods that end as told. Where nodes run nothing, they succeed. */
export function play(stage: TestEnvironment, exits: Exits = [0]): void {
  stage.cluster?.image("rayproject/ray:2.46.0", {
    async run({ container, stop }) {
      const stopped = new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
      if (container.name === "wait-gcs-ready") return 0;
      const exit = container.name === "ray-job-submitter" && (exits.length > 1 ? exits.shift()! : exits[0]!);
      if (typeof exit === "number") return exit;
      await stopped;
      return 143;
    },
    exec: async () => 0,
  });
}

export const reaches = (stage: TestEnvironment, phase: string, status: string | undefined, limit?: number) =>
  stage.until(
    `the job is ${phase}`,
    async () => {
      const job = await stage.get(RayJob, "census");
      return job.status?.jobDeploymentStatus === phase && job.status.jobStatus === status;
    },
    limit,
  );
export const names = async (stage: TestEnvironment, kind: typeof RayCluster | typeof Job) =>
  (await stage.list(kind as typeof Job)).map(({ metadata }) => metadata.name);

export const clusterGoes = (stage: TestEnvironment) =>
  stage.until("the cluster is gone", async () => (await names(stage, RayCluster)).length === 0, 1_200_000);

/** A cluster is made, the job is submitted once and followed; the cluster goes after a while, the log stays. */
export const jobRuns: Scenario = async (stage) => {
  play(stage);
  await stage.start(rayOperator);
  await stage.apply(JOB);
  await reaches(stage, "Complete", "SUCCEEDED");
  assert.equal(await stage.condition(RayJob, "census", "Ready"), "True Complete");
  const { status } = await stage.get(RayJob, "census");
  assert.equal(status?.rayClusterName, "census-0");
  assert.equal(status?.jobId, "census-0");
  assert.equal(status?.succeeded, 1);
  const address = `census-0-head-svc.${stage.namespace}.svc.cluster.local:8265`;
  assert.equal(status?.dashboardURL, address);
  const submitter = await stage.get(Job, "census-0");
  const [container] = submitter.spec!.template.spec!.containers;
  assert.match(container!.args![0]!, /"submission_id":"census-0"/);
  assert.match(container!.args![0]!, /"runtime_env":\{"pip":\["pandas==2.2.3"\],"env_vars":\{"REGION":"north"\}\}/);
  assert.match(container!.args![0]!, /"entrypoint":"python \/home\/ray\/samples\/census\.py --year 2026"/);
  await clusterGoes(stage);
  assert.deepEqual(await names(stage, Job), ["census-0"]);
};

/** What has ended is not submitted again when its Job is deleted. */
export const jobDeletedAfterItsEnd: Scenario = async (stage) => {
  await jobRuns(stage);
  await stage.client.delete(Job, `${stage.namespace}/census-0`, { propagationPolicy: "Background" });
  await stage.until("the log is gone", async () => (await names(stage, Job)).length === 0);
  await stage.settled();
  assert.deepEqual(await names(stage, Job), []);
  await reaches(stage, "Complete", "SUCCEEDED");
};

/** A status that a replaced process writes when the job has ended starts nothing: the submitting Job says that it has. */
export const lateStatus: Scenario = async (stage) => {
  await jobRuns(stage);
  const { metadata, status } = await stage.get(RayJob, "census");
  const writer = metadata.managedFields?.find(({ operation, subresource }) => operation === "Apply" && subresource);
  await stage.client.applyStatus(
    RayJob,
    {
      metadata: { name: "census", namespace: stage.namespace },
      status: { startTime: status!.startTime!, jobDeploymentStatus: "Initializing" },
    },
    { fieldManager: writer!.manager!, force: true },
  );
  const made: string[] = [];
  await stage.until("the job is Complete again", async () => {
    made.push(...(await names(stage, RayCluster)));
    return (await stage.get(RayJob, "census")).status?.jobDeploymentStatus === "Complete";
  });
  await stage.settled();
  assert.deepEqual([...made, ...(await names(stage, RayCluster))], []);
  assert.equal((await stage.get(RayJob, "census")).status?.jobStatus, "SUCCEEDED");
};

/** What fails is tried again on another cluster, as often as it may be. */
export const jobFails: Scenario = async (stage) => {
  play(stage, [64]);
  await stage.start(rayOperator);
  await stage.apply(JOB);
  await reaches(stage, "Failed", "FAILED");
  const { status } = await stage.get(RayJob, "census");
  assert.equal(status?.reason, "AppFailed");
  assert.equal(status?.failed, 2);
  assert.equal(status?.rayClusterName, "census-1");
  assert.equal(await stage.condition(RayJob, "census", "Ready"), "False AppFailed");
  assert.equal(await stage.condition(RayJob, "census", "Stalled"), "True AppFailed");
  assert.deepEqual(await names(stage, Job), ["census-1"]);
  await clusterGoes(stage);
};

/** A submitting pod that is lost is replaced, and the job is not a failed one; the next try succeeds. */
export const jobRetried: Scenario = async (stage) => {
  play(stage, [1, 64, 0]);
  await stage.start(rayOperator);
  await stage.apply(JOB);
  await reaches(stage, "Complete", "SUCCEEDED");
  const { status } = await stage.get(RayJob, "census");
  assert.equal(status?.failed, 1);
  assert.equal(status?.rayClusterName, "census-1");
};

/** A suspended job keeps nothing, and starts from the beginning. */
export const jobSuspended: Scenario = async (stage) => {
  const exits: Exits = ["runs"];
  play(stage, exits);
  await stage.start(rayOperator);
  await stage.apply(JOB.replace("spec:\n", "spec:\n  suspend: true\n"));
  await reaches(stage, "Suspended", undefined);
  assert.deepEqual(await names(stage, RayCluster), []);
  const key = `${stage.namespace}/census`;
  const suspend = (to: boolean) => stage.client.patch(RayJob, key, { merge: { spec: { suspend: to } } });
  await suspend(false);
  await reaches(stage, "Running", "RUNNING");
  await assert.rejects(
    stage.client.patch(RayJob, key, { merge: { spec: { entrypoint: "python other.py" } } }),
    /spec\.entrypoint.*cannot change once the job has started/,
  );
  await suspend(true);
  await reaches(stage, "Suspended", undefined);
  await stage.until("no pod is left", async () => (await stage.list(Pod)).length === 0);
  await stage.client.patch(RayJob, key, { merge: { spec: { entrypoint: "python other.py" } } });
  exits[0] = 0;
  await suspend(false);
  await reaches(stage, "Complete", "SUCCEEDED");
  assert.match(
    (await stage.get(Job, "census-0")).spec!.template.spec!.containers[0]!.args![0]!,
    /"entrypoint":"python other\.py"/,
  );
  await clusterGoes(stage);
};

/** A job that takes too long has failed, and nothing of it runs on. */
export const jobTooLong: Scenario = async (stage) => {
  play(stage, ["runs"]);
  await stage.start(rayOperator);
  await stage.apply(JOB.replace("spec:\n", "spec:\n  activeDeadlineSeconds: 300\n"));
  await reaches(stage, "Running", "RUNNING");
  await reaches(stage, "Failed", "STOPPED", 600_000);
  assert.equal((await stage.get(RayJob, "census")).status?.reason, "DeadlineExceeded");
  await stage.until("no pod is left", async () => (await stage.list(Pod)).length === 0);
};

/** The sizes of a job's groups are the autoscaler's to decide, where there is one. */
export const jobAutoscaled: Scenario = async (stage) => {
  play(stage, ["runs"]);
  await stage.start(rayOperator);
  await stage.apply(JOB.replace("rayClusterSpec:\n", "rayClusterSpec:\n    enableInTreeAutoscaling: true\n"));
  await reaches(stage, "Running", "RUNNING");
  await stage.client.patch(RayCluster, `${stage.namespace}/census-0`, {
    json: [{ op: "replace", path: "/spec/workerGroupSpecs/0/replicas", value: 3 }],
  });
  await stage.settled();
  assert.equal((await stage.get(RayCluster, "census-0")).spec.workerGroupSpecs?.[0]?.replicas, 3);
};

/** What could never run is refused, with the field. */
export const badJobs: Scenario = async (stage) => {
  await stage.start(rayOperator);
  const refused = (change: (text: string) => string, message: RegExp) =>
    assert.rejects(stage.apply(change(JOB)), message);
  await refused((text) => text.replace(/ +entrypoint: .*\n/, ""), /spec\.entrypoint: Required value/);
  await refused(
    (text) => text.replace(/ +image: .*\n/, ""),
    /spec\.rayClusterSpec\.headGroupSpec.*an image that contains Ray/,
  );
  await refused((text) => text.replace("pip:", "pip: ["), /spec\.runtimeEnvYAML/);
  const add = (fields: string) => (text: string) => text.replace("spec:\n", `spec:\n${fields}`);
  await refused(add("  submissionMode: Unknown\n"), /spec\.submissionMode/);
  await refused(add("  clusterSelector: { ray.io/cluster: science }\n"), /spec\.rayClusterSpec: Forbidden/);
  await refused(
    add("  deletionStrategy: { onSuccess: { policy: DeleteSelf } }\n"),
    /has either deletionRules, or onSuccess and onFailure/,
  );
  await refused(add("  submissionMode: InteractiveMode\n"), /spec\.backoffLimit: Forbidden/);
  await refused(
    (text) => text.replace("rayClusterSpec:\n", "rayClusterSpec:\n    authOptions: {}\n"),
    /authentication needs Ray 2\.52\.0 or newer/,
  );
};
