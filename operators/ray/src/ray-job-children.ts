import { type Container, Job, type PodTemplateSpec } from "konverge/kinds";
import { truncatedName } from "konverge/objects";
import { restrictedPodSpec } from "konverge/pods";
import { parseYaml } from "konverge/schema";
import { dashboardAddress } from "./ray-children.ts";
import { RayCluster } from "./ray-cluster.ts";
import type { RayJob } from "./ray-job.ts";
import { decidedSpec, LONGEST_CLUSTER, originLabels } from "./ray-origin.ts";

const SUBMITTER = "ray-job-submitter";
/** What a submitting pod exits with when the job itself has ended badly: submitting it again would not help. */
const JOB_FAILED = 64;
const JOB_STOPPED = 65;
const RETRIES = 2;

/** A try's cluster. Each try has its own, so that nothing of a failed one is in the way. */
export function jobCluster({ metadata, spec }: RayJob, attempt: number) {
  const name = truncatedName(metadata.name, String(attempt), LONGEST_CLUSTER);
  return RayCluster.draft({
    metadata: { name, namespace: metadata.namespace!, labels: originLabels("RayJob", metadata.name) },
    spec: decidedSpec(spec.rayClusterSpec),
  });
}

export const jobIdOf = (job: RayJob, attempt: number) => job.spec.jobId ?? jobCluster(job, attempt).metadata.name;

/** Where the cluster of a try takes jobs. */
export function dashboardOf(job: RayJob, attempt: number): string {
  return dashboardAddress(jobCluster(job, attempt));
}

/** The Job whose pod submits a try and follows it to its end. */
export function submitterFor(job: RayJob, attempt: number) {
  const { metadata, spec } = job;
  const template = submitterTemplate(job);
  const [first, ...others] = template.spec!.containers;
  const container: Container = {
    ...first!,
    ...(!first!.command && { command: ["/bin/bash", "-c", "--"], args: [submitScript(job, attempt)] }),
    env: [
      ...(first!.env ?? []),
      { name: "PYTHONUNBUFFERED", value: "1" },
      { name: "RAY_DASHBOARD_ADDRESS", value: dashboardOf(job, attempt) },
      { name: "RAY_JOB_SUBMISSION_ID", value: jobIdOf(job, attempt) },
    ],
  };
  return Job.draft({
    metadata: {
      name: jobCluster(job, attempt).metadata.name,
      namespace: metadata.namespace!,
      labels: originLabels("RayJob", metadata.name),
    },
    spec: {
      backoffLimit: spec.submitterConfig?.backoffLimit ?? RETRIES,
      podFailurePolicy: {
        rules: [
          {
            action: "FailJob",
            onExitCodes: { containerName: container.name, operator: "In", values: [JOB_FAILED, JOB_STOPPED] },
          },
          { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
        ],
      },
      template: {
        metadata: {
          ...template.metadata,
          labels: { ...template.metadata?.labels, ...originLabels("RayJob", metadata.name) },
        },
        spec: restrictedPodSpec({ ...template.spec!, restartPolicy: "Never", containers: [container, ...others] }),
      },
    },
  });
}

/** The head's image has the right version of Ray. */
function submitterTemplate({ spec }: RayJob): PodTemplateSpec {
  const { template: head } = spec.rayClusterSpec.headGroupSpec;
  const [ray] = head.spec?.containers ?? [];
  if (spec.submitterPodTemplate?.spec?.containers.length) return spec.submitterPodTemplate;
  return {
    spec: {
      containers: [
        {
          name: SUBMITTER,
          image: ray!.image!,
          ...(ray!.imagePullPolicy && { imagePullPolicy: ray!.imagePullPolicy }),
          resources: { requests: { cpu: "500m", memory: "200Mi" }, limits: { cpu: "1", memory: "1Gi" } },
        },
      ],
      ...(head.spec?.imagePullSecrets && { imagePullSecrets: head.spec.imagePullSecrets }),
    },
  };
}

/**
 * Submits a job unless an earlier pod has, follows its log, and exits as it ends. A pod that replaces one that was lost
 * joins the job where it is; a head that was restarted knows of no job, and gets it again. It is submitted with Ray's client
 * for Python: `ray job submit` takes words, and what follows a `&&` would run in this pod.
 */
export function submitScript(job: RayJob, attempt: number): string {
  const address = `http://${dashboardOf(job, attempt)}`;
  const id = quoted(jobIdOf(job, attempt));
  const python = (call: string, ...args: string[]) => {
    const program = `import json, sys; from ray.job_submission import JobSubmissionClient; client = JobSubmissionClient(sys.argv[1]); ${call}`;
    return ["python -c", quoted(program), address, ...args].join(" ");
  };
  const status = python("print(client.get_job_status(sys.argv[2]).value)", id);
  const submit = python(
    "client.submit_job(**json.loads(sys.argv[2]))",
    quoted(JSON.stringify(submission(job, attempt))),
  );
  return [
    `until ray job list --address ${address} > /dev/null 2>&1; do echo "waiting for ${address}"; sleep 2; done`,
    `if ! ${status} > /dev/null 2>&1; then ${submit} || exit 1; fi`,
    "while true",
    `do ray job logs --address ${address} --follow ${id}`,
    `status=$(${status}) || exit 1`,
    `case "$status" in SUCCEEDED) exit 0;; FAILED) exit ${JOB_FAILED};; STOPPED) exit ${JOB_STOPPED};; esac`,
    "sleep 5",
    "done",
  ].join("\n");
}

/** What Ray gets of a job. */
function submission(job: RayJob, attempt: number) {
  const { entrypoint, runtimeEnvYAML, metadata, entrypointNumCpus, entrypointNumGpus, entrypointResources } = job.spec;
  return {
    entrypoint: entrypoint.trim(),
    submission_id: jobIdOf(job, attempt),
    ...(runtimeEnvYAML && { runtime_env: parseYaml(runtimeEnvYAML)[0] ?? {} }),
    ...(metadata && { metadata }),
    ...(entrypointNumCpus && { entrypoint_num_cpus: entrypointNumCpus }),
    ...(entrypointNumGpus && { entrypoint_num_gpus: entrypointNumGpus }),
    ...(entrypointResources && { entrypoint_resources: JSON.parse(entrypointResources) as unknown }),
  };
}

/** One word for a shell. */
function quoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What the end of a submitting Job says about the job; undefined while it is at work. */
export function outcomeOf(submitter: Job | undefined) {
  const of = (type: string) => submitter?.status?.conditions?.find((one) => one.type === type && one.status === "True");
  if (of("Complete")) return { jobStatus: "SUCCEEDED" as const };
  const failed = of("Failed");
  if (!failed) return undefined;
  const message = failed.message ?? "";
  const code = failed.reason === "PodFailurePolicy" ? /exit code (\d+)/.exec(message)?.[1] : undefined;
  if (code === String(JOB_STOPPED))
    return { jobStatus: "STOPPED" as const, reason: "AppFailed" as const, message: "the job was stopped" };
  if (code === String(JOB_FAILED))
    return {
      jobStatus: "FAILED" as const,
      reason: "AppFailed" as const,
      message: `the job failed: see the log of job ${submitter!.metadata.name}`,
    };
  return { jobStatus: "FAILED" as const, reason: "SubmissionFailed" as const, message };
}
