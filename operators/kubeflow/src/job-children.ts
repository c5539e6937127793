import { Pod, Service, type ServicePort } from "konverge/kinds";
import type { Framework, Member } from "./framework.ts";
import type { GangScheduler } from "./gang-scheduler.ts";
import type { Job, JobObject } from "./job.ts";
import type { PodMarks } from "./job-pods.ts";
import { JOB_NAME, JOB_ROLE, OPERATOR_NAME, REPLICA_INDEX, REPLICA_TYPE, replicaName } from "./names.ts";

/** The labels of a pod's Service, which are those that it finds the pod by. */
function labelsOf(
  { name }: Job,
  { replica, index }: Member,
  { controller }: Pick<PodMarks, "controller">,
): Record<string, string> {
  return {
    [OPERATOR_NAME]: controller,
    [JOB_NAME]: name,
    [REPLICA_TYPE]: replica.type.toLowerCase(),
    [REPLICA_INDEX]: String(index),
  };
}

/** One pod of a job. */
export function podFor<T extends JobObject>(
  job: Job<T>,
  member: Member,
  framework: Framework<T>,
  gang?: GangScheduler,
) {
  const { replica, index } = member;
  const { metadata, spec } = framework.complete(job, member);
  const marks = gang?.marks(job, replica);
  const annotations = { ...metadata?.annotations, ...marks?.annotations };
  const schedulerName = spec?.schedulerName ?? marks?.schedulerName;
  return Pod.draft({
    metadata: {
      name: replicaName(job.name, replica.type, index),
      namespace: job.namespace,
      labels: {
        ...metadata?.labels,
        ...labelsOf(job, member, framework),
        ...(framework.isMaster(job, member) && { [JOB_ROLE]: "master" }),
        ...marks?.labels,
      },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(metadata?.finalizers && { finalizers: metadata.finalizers }),
    },
    spec: {
      ...spec!,
      ...(schedulerName && { schedulerName }),
      restartPolicy: replica.restartPolicy === "ExitCode" ? "Never" : replica.restartPolicy,
    },
  });
}

/** The name under which one pod is known to the others. */
export function serviceFor(job: Job, member: Member, framework: PodMarks) {
  const labels = labelsOf(job, member, framework);
  return Service.draft({
    metadata: { name: replicaName(job.name, member.replica.type, member.index), namespace: job.namespace, labels },
    spec: { clusterIP: "None", selector: labels, ports: portsOf(member, framework) },
  });
}

/** All ports of the framework's container. */
function portsOf({ replica }: Member, { container }: PodMarks): ServicePort[] {
  const main = replica.template.spec?.containers.find(({ name }) => name === container);
  const byName = new Map((main?.ports ?? []).map(({ name = "", containerPort }) => [name, containerPort]));
  return [...byName]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, port]) => ({ ...(name && { name }), port, targetPort: port, protocol: "TCP" }));
}

/** All desired pods of a job. */
export function membersOfJob({ replicas }: Job): Member[] {
  return replicas.flatMap((replica) => Array.from({ length: replica.count }, (_, index) => ({ replica, index })));
}
