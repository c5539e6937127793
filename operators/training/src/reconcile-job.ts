import { keyOf, type ReconcileContext } from "konverge";
import { ConfigMap } from "konverge/kinds";
import { reportProblem, type WorkloadProblem } from "konverge/pods";
import { afterTheEnd } from "./finished-job.ts";
import { gangOf } from "./gang.ts";
import { goOn } from "./go-on.ts";
import { hyperparametersOf } from "./hyperparameters.ts";
import { podsOf } from "./job-pods.ts";
import { activeConditions, isFinished, reportedBefore } from "./job-status.ts";
import { record } from "./record-verdict.ts";
import { specProblems } from "./spec-problems.ts";
import { suspended } from "./suspended-job.ts";
import type { Tools, TrainingResult } from "./tools.ts";
import type { TrainingJob } from "./training-job.ts";
import { judge } from "./verdict.ts";
import { specHash } from "./worker-pod.ts";

/**
 * Reconciles a job. Either something has happened (a worker failed, all are done, a deadline has passed) and is only
 * recorded in the status, or the recorded state is carried out.
 */
export async function reconcileJob(job: TrainingJob, context: ReconcileContext, tools: Tools): Promise<TrainingResult> {
  tools.metrics.created(job);
  const result = await resultFor(job, context, tools);
  const observe = (status: TrainingResult["status"]) =>
    tools.metrics.observe(keyOf(job), job, { ...reportedBefore(job), ...status });
  const { report } = result;
  if (!report) {
    observe(result.status);
    return result;
  }
  return {
    ...result,
    report(outcome) {
      const reported = report(outcome);
      observe(reported?.status);
      return reported;
    },
  };
}

async function resultFor(job: TrainingJob, context: ReconcileContext, tools: Tools): Promise<TrainingResult> {
  const pods = podsOf(context);
  if (isFinished(job)) return afterTheEnd(job, pods, context);
  if (job.spec.suspend) return suspended(job, pods, context);
  const [wrong] = specProblems(job);
  if (wrong) return hold(job, { reason: "InvalidSpec", message: `${wrong.field}: ${wrong.message}` }, context);
  const { spec, metadata } = job;
  const source = spec.hyperparametersFrom?.configMapName;
  const from = source ? context.cache.get(ConfigMap, `${metadata.namespace}/${source}`) : undefined;
  const hyperparameters = source && !from ? undefined : hyperparametersOf(job, from);
  // Running workers do not depend on the ConfigMap that they were created from.
  const hash = hyperparameters
    ? specHash(job, hyperparameters)
    : pods.find(({ attempt }) => attempt === (job.status?.attempt ?? 0))?.specHash;
  if (hash === undefined) return hold(job, configMapNotFound(source!), context);
  const gang = gangOf(job, pods, hash);
  const verdict = judge(job, gang, context.clock.now());
  if (verdict.type !== "go-on") return record(job, verdict, gang, context, tools);
  if (!hyperparameters && gang.missing.length > 0) return hold(job, configMapNotFound(source!), context);
  return goOn(job, gang, { hyperparameters, decidedIn: verdict.after }, context, tools);
}

function configMapNotFound(name: string): WorkloadProblem {
  return { reason: "ConfigMapNotFound", message: `the ConfigMap ${name} does not exist: create it` };
}

/** Nothing is done until users fix it; their change causes a reconcile. */
function hold(job: TrainingJob, problem: WorkloadProblem, context: ReconcileContext): TrainingResult {
  reportProblem(job, problem, context.events);
  const before = reportedBefore(job);
  const status = { ...before, phase: before.phase ?? ("Pending" as const) };
  return { status, conditions: activeConditions(job, status, problem) };
}
