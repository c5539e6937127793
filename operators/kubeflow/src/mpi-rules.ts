import type { FieldError } from "konverge";
import { dns1035LabelErrors } from "konverge/objects";
import { fieldInvalid, fieldRequired } from "konverge/webhooks";
import type { JobRules } from "./job-admission.ts";
import type { ReplicaSpec } from "./job-fields.ts";
import type { MPIJob } from "./mpi-job.ts";
import { replicaName } from "./names.ts";
import { notSupported } from "./spec-problems.ts";

const PATH = "spec.mpiReplicaSpecs";
const POLICIES = ["Never", "OnFailure"];

/** What is wrong with an MPIJob beyond what its CRD can say, worded as upstream words it. */
export const mpiRules: JobRules<MPIJob> = {
  problems({ metadata, spec }) {
    const { Launcher: launcher, Worker: worker, ...others } = spec.mpiReplicaSpecs;
    const problems = nameProblems(metadata.name, worker?.replicas ?? 1);
    for (const type of Object.keys(others))
      problems.push(notSupported(`${PATH}[${type}]`, type, ["Launcher", "Worker"]));
    if (launcher) problems.push(...replicaProblems("Launcher", launcher));
    else problems.push(fieldRequired(`${PATH}[Launcher]`, "must have Launcher replica spec"));
    const { replicas: launchers = 1 } = launcher ?? {};
    if (launchers !== 1) problems.push(fieldInvalid(`${PATH}[Launcher].replicas`, launchers, "must be 1"));
    if (!worker) return problems;
    problems.push(...replicaProblems("Worker", worker));
    const { replicas: workers = 0 } = worker;
    if (workers <= 0)
      problems.push(fieldInvalid(`${PATH}[Worker].replicas`, workers, "must be greater than or equal to 1"));
    return problems;
  },
};

function nameProblems(name: string | undefined, workers: number): FieldError[] {
  // A name that is yet to be generated is judged when it is there.
  if (!name) return [];
  const longest = replicaName(name, "Worker", Math.max(0, workers - 1));
  const wrong = dns1035LabelErrors(longest);
  if (wrong.length === 0) return [];
  const why = `will not able to create pod and service with invalid DNS label "${longest}": ${wrong.join(", ")}`;
  return [fieldInvalid("metadata.name", name, why)];
}

function replicaProblems(type: string, { template, restartPolicy }: ReplicaSpec): FieldError[] {
  const containers = `${PATH}[${type}].template.spec.containers`;
  return [
    ...(template?.spec?.containers.length ? [] : [fieldRequired(containers, "must define at least one container")]),
    ...(restartPolicy && !POLICIES.includes(restartPolicy)
      ? [notSupported(`${PATH}[${type}].restartPolicy`, restartPolicy, POLICIES)]
      : []),
  ];
}
