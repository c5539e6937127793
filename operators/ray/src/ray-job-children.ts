import { type Container, Job, type Pod, type PodTemplateSpec } from "konverge/kinds";
import { truncatedName } from "konverge/objects";
import { restrictedPodSpec } from "konverge/pods";
import { parseYaml } from "konverge/schema";
import { withToken } from "./ray-auth.ts";
import { CLUSTER, dashboardAddress, headPorts, SUBMITTER } from "./ray-children.ts";
import { RayCluster } from "./ray-cluster.ts";
import type { RayJob } from "./ray-job.ts";
import { decidedSpec, LONGEST_CLUSTER, originLabels } from "./ray-origin.ts";

/** What a submitting pod exits with when the job itself has ended badly: submitting it again would not help. */
const JOB_FAILED = 64;
const JOB_STOPPED = 65;
const RETRIES = 2;

/** The name of a try, of its cluster and of the Job that submits it. */
export const attemptName = ({ metadata }: RayJob, attempt: number) =>
  truncatedName(metadata.name, String(attempt), LONGEST_CLUSTER);

/** The name of the cluster that a job selects, in place of a dedicated one. */
export const selectedCluster = ({ spec }: RayJob) => spec.clusterSelector?.[CLUSTER];

/** A try's cluster. Each try has its own, so that nothing of a failed one is in the way. */
export function jobCluster(job: RayJob, attempt: number, hasWorkers = true) {
  const { name, namespace } = job.metadata;
  const metadata = {
    name: attemptName(job, attempt),
    namespace: namespace!,
    labels: originLabels("RayJob", name),
  };
  const given = job.spec.rayClusterSpec!;
  const { workerGroupSpecs = [] } = given;
  const spec = {
    ...given,
    ...(!hasWorkers && { workerGroupSpecs: workerGroupSpecs.map((group) => ({ ...group, suspend: true })) }),
    ...(job.spec.submissionMode === "SidecarMode" && { headGroupSpec: headWithSubmitter(job, attempt) }),
  };
  return RayCluster.draft({ metadata, spec: decidedSpec(spec) });
}

/** A head that submits the job itself. The container is not started again: what it has submitted may be running. */
function headWithSubmitter(job: RayJob, attempt: number): RayCluster["spec"]["headGroupSpec"] {
  const spec = job.spec.rayClusterSpec!;
  const { template, ...head } = spec.headGroupSpec;
  const cluster = { metadata: { name: attemptName(job, attempt) }, spec };
  const address = `127.0.0.1:${headPorts(cluster)["dashboard"]}`;
  const submitter = withToken(cluster, {
    ...submitterContainer(cluster),
    command: ["/bin/bash", "-c", "--"],
    args: [submitScript(job, attempt, address)],
    env: submitterVariables(job, attempt, address),
  });
  const containers = [...template.spec!.containers, submitter];
  return { ...head, template: { ...template, spec: { ...template.spec!, restartPolicy: "Never", containers } } };
}

export const jobIdOf = (job: RayJob, attempt: number) => job.spec.jobId || attemptName(job, attempt);

/** What a submitting container knows beside its command. */
const submitterVariables = (job: RayJob, attempt: number, address: string) => [
  { name: "PYTHONUNBUFFERED", value: "1" },
  { name: "RAY_DASHBOARD_ADDRESS", value: address },
  { name: "RAY_JOB_SUBMISSION_ID", value: jobIdOf(job, attempt) },
];

/** The Job whose pod submits a try and follows it to its end. */
export function submitterFor(job: RayJob, attempt: number, cluster: RayCluster) {
  const { metadata, spec } = job;
  const template = submitterTemplate(job, cluster);
  const address = dashboardAddress(cluster);
  const [first, ...others] = template.spec!.containers;
  const container: Container = withToken(cluster, {
    ...first!,
    ...(!first!.command && { command: ["/bin/bash", "-c", "--"], args: [submitScript(job, attempt, address)] }),
    env: [...(first!.env ?? []), ...submitterVariables(job, attempt, address)],
  });
  return Job.draft({
    metadata: {
      name: attemptName(job, attempt),
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
function submitterTemplate({ spec }: RayJob, cluster: RayCluster): PodTemplateSpec {
  if (spec.submitterPodTemplate?.spec?.containers.length) return spec.submitterPodTemplate;
  const { template: head } = cluster.spec.headGroupSpec;
  return {
    spec: {
      containers: [submitterContainer(cluster)],
      ...(head.spec?.imagePullSecrets && { imagePullSecrets: head.spec.imagePullSecrets }),
    },
  };
}

function submitterContainer({ spec }: Pick<RayCluster, "spec">): Container {
  const ray = spec.headGroupSpec.template.spec!.containers[0]!;
  return {
    name: SUBMITTER,
    image: ray.image!,
    ...(ray.imagePullPolicy && { imagePullPolicy: ray.imagePullPolicy }),
    resources: { requests: { cpu: "500m", memory: "200Mi" }, limits: { cpu: "1", memory: "1Gi" } },
  };
}

/**
 * Submits a job unless an earlier pod has, follows its log, and exits as it ends. A pod that replaces one that was lost
 * joins the job where it is; a head that was restarted knows of no job, and gets it again. It is submitted with Ray's client
 * for Python: `ray job submit` takes words, and what follows a `&&` would run in this pod.
 */
export function submitScript(job: RayJob, attempt: number, dashboard: string): string {
  const address = `http://${dashboard}`;
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
export function submission(job: RayJob, attempt: number) {
  const { entrypoint, runtimeEnvYAML, metadata, entrypointNumCpus, entrypointNumGpus, entrypointResources } = job.spec;
  return {
    entrypoint: entrypoint!.trim(),
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

/** What the submitting container of a head says about the job; undefined if there is none. */
export function sidecarState(head: Pod | undefined): Outcome | "running" | undefined {
  const state = head?.status?.containerStatuses?.find(({ name }) => name === SUBMITTER)?.state;
  if (state?.running) return "running";
  if (!state?.terminated) return undefined;
  const { exitCode, message = `the submitting container has exited with ${exitCode}` } = state.terminated;
  return outcomeOfExit(exitCode, `container ${SUBMITTER} of pod ${head!.metadata.name}`, message);
}

/** How a job has ended, or why it could not be submitted. */
export interface Outcome {
  readonly jobStatus: "SUCCEEDED" | "FAILED" | "STOPPED";
  readonly reason?: "AppFailed" | "SubmissionFailed";
  readonly message?: string;
}

function outcomeOfExit(code: number | undefined, submitter: string, message: string): Outcome {
  if (code === 0) return { jobStatus: "SUCCEEDED" };
  if (code === JOB_STOPPED) return { jobStatus: "STOPPED", reason: "AppFailed", message: "the job was stopped" };
  if (code === JOB_FAILED)
    return { jobStatus: "FAILED", reason: "AppFailed", message: `the job failed: see the log of ${submitter}` };
  return { jobStatus: "FAILED", reason: "SubmissionFailed", message };
}

/** What the end of a submitting Job says about the job; undefined while it is at work. */
export function outcomeOf(submitter: Job | undefined): Outcome | undefined {
  const of = (type: string) => submitter?.status?.conditions?.find((one) => one.type === type && one.status === "True");
  if (of("Complete")) return { jobStatus: "SUCCEEDED" };
  const failed = of("Failed");
  if (!failed) return undefined;
  const message = failed.message ?? "";
  const code = failed.reason === "PodFailurePolicy" ? /exit code (\d+)/.exec(message)?.[1] : undefined;
  return outcomeOfExit(code === undefined ? undefined : Number(code), `job ${submitter!.metadata.name}`, message);
}
