import type { Pod } from "konverge/kinds";
import type { Framework } from "../src/framework.ts";
import type { Job } from "../src/job.ts";
import type { ReplicaSpec } from "../src/job-fields.ts";
import { type JobPod, jobPod } from "../src/job-pods.ts";
import { JobReport } from "../src/job-report.ts";
import { mxnet } from "../src/mx-framework.ts";
import type { MXJob } from "../src/mx-job.ts";
import { OPERATOR_NAME, REPLICA_INDEX, REPLICA_TYPE } from "../src/names.ts";
import { pytorch } from "../src/pytorch-framework.ts";
import type { PyTorchJob } from "../src/pytorch-job.ts";
import { jobOf } from "../src/read-job.ts";
import { survey } from "../src/survey.ts";
import { tensorflow } from "../src/tf-framework.ts";
import type { TFJob } from "../src/tf-job.ts";
import { xgboost } from "../src/xgboost-framework.ts";
import type { XGBoostJob } from "../src/xgboost-job.ts";

/** Jobs for unit tests. */
export const torch = pytorch({ image: "alpine:3.10", maxTries: 100, template: undefined });
export const flow = tensorflow();
export const boost = xgboost();
export const mx = mxnet();

const metadata = { name: "train", namespace: "team", uid: "u-1" };
const template = (container: string) => ({ spec: { containers: [{ name: container, image: "train:1" }] } });
const specs = (container: string, given: Record<string, Omit<ReplicaSpec, "template">>) =>
  Object.fromEntries(Object.entries(given).map(([type, one]) => [type, { template: template(container), ...one }]));
type Given = Record<string, ReplicaSpec>;

export const torchJob = (given: Given, spec: object = {}): Job<PyTorchJob> => {
  const object = { metadata, spec: { pytorchReplicaSpecs: specs("pytorch", given), ...spec } };
  return jobOf(object as unknown as PyTorchJob, torch);
};
export const flowJob = (given: Given, spec: object = {}): Job<TFJob> =>
  jobOf({ metadata, spec: { tfReplicaSpecs: specs("tensorflow", given), ...spec } } as unknown as TFJob, flow);
export const boostJob = (given: Given): Job<XGBoostJob> =>
  jobOf({ metadata, spec: { xgbReplicaSpecs: specs("xgboost", given) } } as unknown as XGBoostJob, boost);
export const mxJob = (given: Given, jobMode = "MXTrain"): Job<MXJob> =>
  jobOf({ metadata, spec: { jobMode, mxReplicaSpecs: specs("mxnet", given) } } as unknown as MXJob, mx);

/** A pod of a job: `pod(torch, "worker", 1, "Failed", 137)`. */
export function pod<F extends { container: string; controller: string }>(
  framework: F,
  type: string,
  index: number,
  phase: string,
  exitCode?: number,
): JobPod {
  const labels = { [OPERATOR_NAME]: framework.controller, [REPLICA_TYPE]: type, [REPLICA_INDEX]: String(index) };
  const ended = exitCode === undefined ? {} : { state: { terminated: { exitCode } } };
  const status = { phase, containerStatuses: [{ name: framework.container, ...ended }] };
  return jobPod({ metadata: { name: `${type}-${index}`, labels }, status } as unknown as Pod, framework)!;
}

/** The report of a survey of these pods, and the changes it decides on. */
export function surveyed<T extends PyTorchJob | TFJob | XGBoostJob | MXJob>(
  job: Job<T>,
  framework: Framework<T>,
  pods: readonly JobPod[],
) {
  const report = new JobReport(framework.kind.kind, job.status, "2026-01-01T00:00:00Z");
  const found = survey(job, pods, framework, report);
  return { ...found, status: report.status, events: report.events, state: report.status.conditions?.at(-1) };
}
