import type { EnvVar } from "konverge/kinds";
import type { Framework, Member } from "./framework.ts";
import { type Job, replicaOf, sizeOf } from "./job.ts";
import { replicaName } from "./names.ts";
import { appendEnv } from "./pod-environment.ts";
import { portOf } from "./read-job.ts";
import { XGBoostJob } from "./xgboost-job.ts";

/** XGBoost and LightGBM: workers join the master's tracker. */
export function xgboost(): Framework<XGBoostJob> {
  const framework: Framework<XGBoostJob> = {
    kind: XGBoostJob,
    name: "xgboost",
    controller: "xgboostjob-controller",
    types: ["Master", "Worker"],
    container: "xgboost",
    port: { name: "xgboostjob-port", number: 9999 },
    restartPolicy: "Never",
    replicaSpecs: ({ spec }) => spec.xgbReplicaSpecs,
    replicaSpecsPath: "spec.xgbReplicaSpecs",
    isMaster: (_, { replica }) => replica.type === "Master",
    complete: (job, member) => appendEnv(member.replica.template, variables(job, member)),
    judge(job, { counts }, report) {
      const { name } = job;
      const running = () => report.running(`XGBoostJob ${name} is running.`);
      for (const { type, count, restartPolicy } of job.replicas) {
        const { active, succeeded, failed } = counts.get(type)!;
        if (type === "Master") {
          if (active > 0 || succeeded >= count) running();
          if (succeeded >= count) return report.succeeded(`XGBoostJob ${name} is successfully completed.`);
        }
        if (failed === 0) continue;
        running();
        const why = `because ${failed} ${type} replica(s) failed.`;
        if (restartPolicy === "ExitCode") report.restarting(`XGBoostJob ${name} is restarting ${why}`);
        else report.failed(`XGBoostJob ${name} is failed ${why}`);
      }
    },
  };

  function variables(job: Job<XGBoostJob>, { replica, index }: Member): EnvVar[] {
    const size = sizeOf(job);
    const master = replicaOf(job, "Master");
    const rank = replica.type === "Worker" ? index + (master?.count ?? 1) : index;
    const port = (type: string) => portOf(replicaOf(job, type), framework) ?? framework.port.number;
    const workers = Array.from({ length: size - 1 }, (_, worker) => replicaName(job.name, "Worker", worker));
    return Object.entries({
      MASTER_PORT: port("Master"),
      MASTER_ADDR: replicaName(job.name, "Master", 0),
      WORLD_SIZE: size,
      RANK: rank,
      PYTHONUNBUFFERED: 1,
      ...(size > 1 && { WORKER_PORT: port("Worker"), WORKER_ADDRS: workers.join(",") }),
    }).map(([name, value]) => ({ name, value: String(value) }));
  }

  return framework;
}
