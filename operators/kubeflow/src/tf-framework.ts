import type { Framework, Member } from "./framework.ts";
import { type Job, type Replica, replicaOf, sizeOf } from "./job.ts";
import { phaseOf } from "./job-pods.ts";
import { replicaName } from "./names.ts";
import { appendEnv } from "./pod-environment.ts";
import { portOf } from "./read-job.ts";
import { TFJob } from "./tf-job.ts";

const CHIEFS = ["Chief", "Master"];
const hasChief = (job: Job) => job.replicas.some(({ type }) => CHIEFS.includes(type));

/** TensorFlow: all replicas know each other from TF_CONFIG. */
export function tensorflow(options: { clusterDomain?: string | undefined } = {}): Framework<TFJob> {
  const framework: Framework<TFJob> = {
    kind: TFJob,
    name: "tensorflow",
    controller: "tfjob-controller",
    types: ["Chief", "Evaluator", "Master", "PS", "Worker"],
    container: "tensorflow",
    port: { name: "tfjob-port", number: 2222 },
    restartPolicy: "Never",
    replicaSpecs: ({ spec }) => spec.tfReplicaSpecs,
    replicaSpecsPath: "spec.tfReplicaSpecs",
    isMaster: (job, { replica, index }) =>
      hasChief(job) ? CHIEFS.includes(replica.type) : replica.type === "Worker" && index === 0,
    complete(job, member) {
      const { template } = member.replica;
      // A job of one pod trains alone, and must not wait for others.
      if (sizeOf(job) === 1) return template;
      return appendEnv(template, [{ name: "TF_CONFIG", value: JSON.stringify(configOf(job, member)) }], "tensorflow");
    },
    judge(job, { counts, pods }, report) {
      const { name, namespace } = job;
      const completed = () => report.succeeded(`TFJob ${namespace}/${name} successfully completed.`);
      const running = () => report.running(`TFJob ${namespace}/${name} is running.`);
      const restarting = report.find("Restarting");
      const first = pods.find((one) => one.type === "worker" && one.index === 0);
      const isFirstDone =
        !replicaOf(job, "Worker") || (first !== undefined && phaseOf(first) === "Succeeded" && first.exitCode === 0);
      for (const { type, count } of job.replicas) {
        if (!framework.types.includes(type)) continue;
        const { active, succeeded, failed } = counts.get(type)!;
        if (hasChief(job) && CHIEFS.includes(type)) {
          if (active > 0) running();
          if (succeeded >= count) return completed();
        } else if (!hasChief(job) && type === "Worker") {
          if (succeeded >= count || (isFirstDone && job.object.spec.successPolicy !== "AllWorkers")) return completed();
          if (active > 0) running();
        }
        if (failed === 0) continue;
        if (restarting) report.restarting(restarting.message ?? "");
        else if (type !== "Worker" || !job.object.spec.enableDynamicWorker) {
          report.failed(`TFJob ${namespace}/${name} has failed because ${failed} ${type} replica(s) failed.`);
        }
      }
    },
  };

  const hostsOf = ({ name, namespace }: Job, replica: Replica): string[] => {
    const port = portOf(replica, framework) ?? framework.port.number;
    const domain = options.clusterDomain ? `.${options.clusterDomain}` : "";
    const host = (index: number) => `${replicaName(name, replica.type, index)}.${namespace}.svc${domain}:${port}`;
    return Array.from({ length: replica.count }, (_, index) => host(index));
  };

  /** With dynamic workers, each knows of the parameter servers and of itself only. */
  function configOf(job: Job<TFJob>, { replica, index }: Member): object {
    const type = replica.type.toLowerCase();
    const task = { type, index };
    if (!job.object.spec.enableDynamicWorker) return { cluster: clusterOf(job), task, environment: "cloud" };
    const own = hostsOf(job, replica)[index]!;
    const servers = replicaOf(job, "PS");
    if (type === "worker") {
      return { cluster: { worker: { [index]: own }, ps: servers ? hostsOf(job, servers) : null }, task };
    }
    return { cluster: { worker: {}, ps: type === "ps" ? [own] : [] }, task };
  }

  function clusterOf(job: Job): Record<string, string[]> {
    const hosts = job.replicas.map((replica): [string, string[]] => [
      replica.type.toLowerCase(),
      hostsOf(job, replica),
    ]);
    return Object.fromEntries(hosts.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  return framework;
}
