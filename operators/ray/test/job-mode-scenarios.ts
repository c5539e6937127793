import assert from "node:assert/strict";
import type { Scenario } from "@konverge/operator-suite";
import { RayCluster, RayJob, rayOperator, rayOperatorWith } from "@konverge/ray-operator";
import { Job, Pod, Secret } from "konverge/kinds";
import { sleep } from "konverge/time";
import { type Exits, JOB, names, play, reaches } from "./job-scenarios.ts";
import { sample } from "./scenarios.ts";
import { SimulatedJobs } from "./simulated-jobs.ts";

const withFields = (fields: string, text = JOB) => text.replace("spec:\n", `spec:\n${fields}`);
const once = (text: string) => text.replace("backoffLimit: 1", "backoffLimit: 0");

/** A container beside the head submits the job; there is no Job. */
export const jobBesideHead: Scenario = async (stage) => {
  play(stage);
  stage.cluster?.image("rayproject/ray:2.46.0", {
    async run({ container, stop }) {
      if (container.name === "wait-gcs-ready") return 0;
      if (container.name === "ray-job-submitter") return sleep(stage.clock, 60_000).then(() => 0);
      await new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
      return 143;
    },
    exec: async () => 0,
  });
  await stage.start(rayOperator);
  await stage.apply(withFields("  submissionMode: SidecarMode\n"));
  await reaches(stage, "Complete", "SUCCEEDED");
  assert.deepEqual(await names(stage, Job), []);
};

/** One that fails is tried again, on another cluster. */
export const jobBesideHeadFails: Scenario = async (stage) => {
  play(stage, [64]);
  await stage.start(rayOperator);
  await stage.apply(withFields("  submissionMode: SidecarMode\n"));
  await reaches(stage, "Failed", "FAILED");
  const { status } = await stage.get(RayJob, "census");
  assert.deepEqual([status?.failed, status?.reason, status?.rayClusterName], [2, "AppFailed", "census-1"]);
};

/** The operator submits the job over HTTP, once, with the token of its cluster. */
export const jobOverHttp: Scenario = async (stage) => {
  const ray = new SimulatedJobs();
  play(stage, ["runs"]);
  await stage.start(rayOperatorWith(ray.fetch));
  const text = JOB.replaceAll("2.46.0", "2.53.0").replace(
    "rayClusterSpec:\n",
    "rayClusterSpec:\n    authOptions: {}\n",
  );
  stage.cluster?.image("rayproject/ray:2.53.0", {
    async run({ container, stop }) {
      if (container.name === "wait-gcs-ready") return 0;
      await new Promise<void>((resolve) => stop.addEventListener("abort", () => resolve(), { once: true }));
      return 143;
    },
    exec: async () => 0,
  });
  ray.token = "not yet known";
  await stage.apply(withFields("  submissionMode: HTTPMode\n", text));
  await stage.until("the cluster has its token", async () => (await stage.find(Secret, "census-0")) !== undefined);
  const token = (await stage.get(Secret, "census-0")).data!["auth_token"]!;
  ray.token = Buffer.from(token, "base64").toString();
  await reaches(stage, "Running", "RUNNING");
  assert.deepEqual(
    ray.sent.map((job) => [job["submission_id"], job["entrypoint"]]),
    [["census-0", "python /home/ray/samples/census.py --year 2026"]],
  );
  ray.jobs.set("census-0", { status: "SUCCEEDED" });
  await reaches(stage, "Complete", "SUCCEEDED");
  assert.deepEqual(await names(stage, Job), []);
};

/** A user submits the job, and says under which ID. */
export const jobOfUser: Scenario = async (stage) => {
  const ray = new SimulatedJobs();
  play(stage, ["runs"]);
  await stage.start(rayOperatorWith(ray.fetch));
  const text = once(JOB).replace(/ +entrypoint: .*\n/, "");
  await stage.apply(withFields("  submissionMode: InteractiveMode\n", text));
  await reaches(stage, "Waiting", undefined);
  assert.equal(await stage.condition(RayJob, "census", "Ready"), "True Waiting");
  ray.jobs.set("raysubmit_1", { status: "RUNNING" });
  await stage.client.patch(RayJob, `${stage.namespace}/census`, { merge: { spec: { jobId: "raysubmit_1" } } });
  await reaches(stage, "Running", "RUNNING");
  ray.jobs.set("raysubmit_1", { status: "FAILED", message: "it divided by zero" });
  await reaches(stage, "Failed", "FAILED");
  assert.equal((await stage.get(RayJob, "census")).status?.message, "it divided by zero");
};

/** A job runs on a cluster that is there, which stays. */
export const jobOnCluster: Scenario = async (stage) => {
  const exits: Exits = ["runs"];
  play(stage, exits);
  await stage.start(rayOperator);
  const selects = "  entrypoint: python census.py\n  clusterSelector: { ray.io/cluster: science }\n";
  await stage.apply(`apiVersion: ray.io/v1\nkind: RayJob\nmetadata:\n  name: census\nspec:\n${selects}`);
  await stage.until("the missing cluster is reported", async () => {
    const { status } = await stage.get(RayJob, "census");
    return status?.conditions?.some(({ message }) => message === "there is no RayCluster science") ?? false;
  });
  exits[0] = 0;
  await stage.apply(sample("cluster"));
  await reaches(stage, "Complete", "SUCCEEDED");
  assert.equal((await stage.get(RayJob, "census")).status?.rayClusterName, "science");
  assert.deepEqual(await names(stage, RayCluster), ["science"]);
  await stage.client.delete(RayJob, `${stage.namespace}/census`);
  await stage.until("its Job is gone", async () => (await names(stage, Job)).length === 0);
  assert.deepEqual(await names(stage, RayCluster), ["science"]);
};

/** First the workers go, then the cluster, then the job itself. */
export const jobDeletesItself: Scenario = async (stage) => {
  play(stage);
  await stage.start(rayOperator);
  const rule = (policy: string, ttlSeconds: number) =>
    `      - { policy: ${policy}, condition: { jobStatus: SUCCEEDED, ttlSeconds: ${ttlSeconds} } }\n`;
  const rules = `${rule("DeleteWorkers", 10)}${rule("DeleteCluster", 20)}${rule("DeleteSelf", 30)}`;
  const text = JOB.replace(/ +(shutdownAfterJobFinishes|ttlSecondsAfterFinished): .*\n/g, "");
  await stage.apply(withFields(`  deletionStrategy:\n    deletionRules:\n${rules}`, text));
  await reaches(stage, "Complete", "SUCCEEDED");
  const nodes = async () =>
    (await stage.list(Pod)).flatMap(({ metadata }) => metadata.labels?.["ray.io/node-type"] ?? []).join();
  await stage.until("only the head is left", async () => (await nodes()) === "head");
  await stage.until("the cluster is gone", async () => (await names(stage, RayCluster)).length === 0);
  await stage.until("the job is gone", async () => (await stage.find(RayJob, "census")) === undefined);
  await stage.until("its Job is gone", async () => (await names(stage, Job)).length === 0);
};

/** A job that does not begin in time has failed. */
export const jobNotBegun: Scenario = async (stage) => {
  play(stage);
  await stage.start(rayOperator);
  await stage.apply(withFields("  preRunningDeadlineSeconds: 120\n", JOB.replace("memory: 4Gi", "memory: 900Ti")));
  await reaches(stage, "Failed", "STOPPED", 600_000);
  assert.equal((await stage.get(RayJob, "census")).status?.reason, "PreRunningDeadlineExceeded");
  await stage.until("no pod is left", async () => (await stage.list(Pod)).length === 0);
};
