import type { EnvVar } from "konverge/kinds";
import type { Framework, Member } from "./framework.ts";
import { type Job, replicaOf } from "./job.ts";
import { MXJob } from "./mx-job.ts";
import { replicaName } from "./names.ts";
import { appendEnv } from "./pod-environment.ts";
import { portOf } from "./read-job.ts";

/** An annotation of a template that TVM's auto-tuning finds its servers by. */
const TUNER_SERVER_KEY = "tuner-server-key";

/** MXNet: a scheduler that servers and workers report to. */
export function mxnet(): Framework<MXJob> {
  const framework: Framework<MXJob> = {
    kind: MXJob,
    name: "mxnet",
    controller: "mxjob-controller",
    types: ["Scheduler", "Server", "Worker", "TunerTracker", "TunerServer", "Tuner"],
    container: "mxnet",
    port: { name: "mxjob-port", number: 9091 },
    restartPolicy: "Never",
    replicaSpecs: ({ spec }) => spec.mxReplicaSpecs,
    replicaSpecsPath: "spec.mxReplicaSpecs",
    isMaster: (_, { replica }) => replica.type === "Server",
    complete: (job, member) => appendEnv(member.replica.template, variables(job, member)),
    judge(job, { counts }, report) {
      const { name } = job;
      const decisive = decisiveType(job);
      for (const { type, count, restartPolicy } of job.replicas) {
        const { active, succeeded, failed } = counts.get(type)!;
        if (type === decisive) {
          if (active > 0) report.running(`MXJob ${name} is running.`);
          if (succeeded >= count) return report.succeeded(`MXJob ${name} is successfully completed.`);
        }
        if (failed === 0) continue;
        const why = `because ${failed} ${type} replica(s) failed.`;
        if (restartPolicy === "ExitCode") report.restarting(`mxjob ${name} is restarting ${why}`);
        else report.failed(`mxjob ${name} is failed ${why}`);
      }
    },
  };

  /** The job is done when the replicas of this type are: a worker that trains alone, what tunes, or the scheduler. */
  const decisiveType = (job: Job<MXJob>): string => {
    const count = (type: string) => replicaOf(job, type)?.count ?? 0;
    if (count("Worker") === 1 && count("Scheduler") === 0 && count("Server") === 0) return "Worker";
    return job.object.spec.jobMode === "MXTune" && count("Scheduler") === 0 ? "Tuner" : "Scheduler";
  };

  function variables(job: Job<MXJob>, { replica, index }: Member): EnvVar[] {
    const sorted = [...job.replicas].sort((a, b) => (a.type.toLowerCase() < b.type.toLowerCase() ? -1 : 1));
    const byType = <V>(value: (one: (typeof sorted)[number]) => V): Record<string, V> =>
      Object.fromEntries(sorted.map((one) => [one.type.toLowerCase(), value(one)]));
    const cluster = byType((one) =>
      Array.from({ length: one.count }, (_, number) => ({
        url: replicaName(job.name, one.type, number),
        port: portOf(one, framework) ?? framework.port.number,
      })),
    );
    const labels = byType(({ template }) => template.metadata?.annotations?.[TUNER_SERVER_KEY] ?? "");
    const type = replica.type.toLowerCase();
    const [root] = cluster["scheduler"] ?? [];
    return Object.entries({
      MX_CONFIG: JSON.stringify({ cluster, labels, task: { type, index } }),
      DMLC_PS_ROOT_PORT: root?.port ?? 0,
      DMLC_PS_ROOT_URI: root?.url ?? "",
      DMLC_NUM_SERVER: cluster["server"]?.length ?? 0,
      DMLC_NUM_WORKER: cluster["worker"]?.length ?? 0,
      DMLC_ROLE: type,
      DMLC_USE_KUBERNETES: 1,
      ...(type === "worker" && { DMLC_WORKER_ID: index }),
    }).map(([name, value]) => ({ name, value: String(value) }));
  }

  return framework;
}
