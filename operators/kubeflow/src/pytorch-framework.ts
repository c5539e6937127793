import {
  HorizontalPodAutoscaler as Autoscaler,
  type EnvVar,
  HorizontalPodAutoscaler,
  type PodTemplateSpec,
} from "konverge/kinds";
import type { Framework, Member } from "./framework.ts";
import { type Job, replicaOf, sizeOf } from "./job.ts";
import { replicaName } from "./names.ts";
import { appendEnv } from "./pod-environment.ts";
import { PyTorchJob } from "./pytorch-job.ts";
import { portOf } from "./read-job.ts";
import { type WaitForMaster, waitContainers } from "./wait-for-master.ts";

/** PyTorch: workers that rendezvous at a master, or elastic workers without one. */
export function pytorch(wait: WaitForMaster): Framework<PyTorchJob> {
  const framework: Framework<PyTorchJob> = {
    kind: PyTorchJob,
    name: "pytorch",
    controller: "pytorchjob-controller",
    types: ["Master", "Worker"],
    container: "pytorch",
    port: { name: "pytorchjob-port", number: 23456 },
    restartPolicy: "OnFailure",
    replicaSpecs: ({ spec }) => spec.pytorchReplicaSpecs,
    replicaSpecsPath: "spec.pytorchReplicaSpecs",
    selectors: true,
    isMaster: (job, { replica, index }) =>
      replicaOf(job, "Master") ? replica.type === "Master" : replica.type === "Worker" && index === 0,
    complete: (job, member) => withWait(job, member, appendEnv(member.replica.template, variables(job, member)), wait),
    judge(job, { counts }, report) {
      const { name, namespace } = job;
      const hasMaster = replicaOf(job, "Master") !== undefined;
      const isElastic = job.object.spec.elasticPolicy !== undefined;
      for (const { type, count, restartPolicy } of job.replicas) {
        const { active, succeeded, failed } = counts.get(type)!;
        if (hasMaster && type === "Master") {
          if (active > 0) report.running(`PyTorchJob ${name} is running.`);
          if (succeeded >= count) return report.succeeded(`PyTorchJob ${name} is successfully completed.`);
        } else if (!hasMaster && type === "Worker") {
          if (succeeded >= count || (isElastic && succeeded > 0)) {
            return report.succeeded(`PyTorchJob ${namespace}/${name} successfully completed.`);
          }
          if (active > 0) report.running(`PyTorchJob ${namespace}/${name} is running.`);
        }
        if (failed === 0 || count <= succeeded + active) continue;
        const why = `because ${failed} ${type} replica(s) failed.`;
        if (restartPolicy !== "Never") report.restarting(`PyTorchJob ${name} is restarting ${why}`);
        else report.failed(`PyTorchJob ${name} is failed ${why}`);
      }
    },
    others: {
      kinds: [Autoscaler],
      for: (job) => (job.object.spec.elasticPolicy?.metrics ? [autoscalerFor(job)] : []),
    },
  };

  function variables(job: Job<PyTorchJob>, { replica, index }: Member): EnvVar[] {
    const { spec } = job.object;
    const env = (entries: Record<string, string | number>): EnvVar[] =>
      Object.entries(entries).map(([name, value]) => ({ name, value: String(value) }));
    const master = replicaOf(job, "Master");
    const rank = replica.type === "Worker" ? index + 1 : index;
    const address = replicaName(job.name, "Master", 0);
    const port = portOf(master, framework) ?? framework.port.number;
    const processes = spec.nprocPerNode ?? (spec.elasticPolicy?.nProcPerNode === undefined ? "auto" : undefined);
    const perNode = /^[+-]?\d+$/.test(processes ?? "") ? Number(processes) : 1;
    return [
      ...env({ PYTHONUNBUFFERED: 1 }),
      ...(master
        ? env({
            MASTER_PORT: port,
            PET_MASTER_PORT: port,
            MASTER_ADDR: address,
            PET_MASTER_ADDR: address,
            WORLD_SIZE: sizeOf(job) * perNode,
            RANK: rank,
            PET_NODE_RANK: rank,
          })
        : []),
      ...(processes === undefined ? [] : env({ PET_NPROC_PER_NODE: processes })),
      ...env(spec.elasticPolicy ? rendezvous(job) : { PET_NNODES: sizeOf(job) }),
    ];
  }

  function rendezvous(job: Job<PyTorchJob>): Record<string, string | number> {
    const policy = job.object.spec.elasticPolicy!;
    const { min, max } = boundsOf(job);
    const host = policy.rdzvHost ?? replicaName(job.name, "Worker", 0);
    const port = policy.rdzvPort ?? portOf(replicaOf(job, "Worker"), framework) ?? framework.port.number;
    const settings = policy.rdzvConf?.map(({ key = "", value = "" }) => `${key}=${value}`);
    return {
      PET_RDZV_ENDPOINT: `${host}:${port}`,
      PET_RDZV_BACKEND: policy.rdzvBackend ?? "c10d",
      PET_NNODES: `${min}:${max}`,
      ...(policy.maxRestarts !== undefined && { PET_MAX_RESTARTS: policy.maxRestarts }),
      ...(policy.nProcPerNode !== undefined && { PET_NPROC_PER_NODE: policy.nProcPerNode }),
      ...(policy.rdzvId !== undefined && { PET_RDZV_ID: policy.rdzvId }),
      ...(settings?.length && { PET_RDZV_CONF: settings.join(",") }),
      ...(policy.standalone && { PET_STANDALONE: "" }),
    };
  }

  return framework;
}

/** Between how many workers an elastic job may have: what is not said follows from what is. */
function boundsOf(job: Job<PyTorchJob>): { min: number; max: number } {
  const { minReplicas, maxReplicas } = job.object.spec.elasticPolicy ?? {};
  const workers = replicaOf(job, "Worker")?.count ?? 0;
  return { min: minReplicas ?? maxReplicas ?? workers, max: maxReplicas ?? minReplicas ?? workers };
}

function withWait(
  job: Job<PyTorchJob>,
  { replica }: Member,
  template: PodTemplateSpec,
  wait: WaitForMaster,
): PodTemplateSpec {
  if (replica.type !== "Worker" || !replicaOf(job, "Master")) return template;
  const trains = template.spec?.containers.find(({ name }) => name === "pytorch");
  const initContainers = [
    ...(template.spec?.initContainers ?? []),
    ...waitContainers(wait, replicaName(job.name, "Master", 0), trains),
  ];
  return { ...template, spec: { ...template.spec!, initContainers } };
}

function autoscalerFor(job: Job<PyTorchJob>) {
  const { name, namespace, object } = job;
  const { min, max } = boundsOf(job);
  return HorizontalPodAutoscaler.draft({
    metadata: { name, namespace },
    spec: {
      scaleTargetRef: { apiVersion: "kubeflow.org/v1", kind: PyTorchJob.kind, name },
      minReplicas: min,
      maxReplicas: max,
      metrics: object.spec.elasticPolicy!.metrics!,
    },
  });
}
