import { kubeflowOperator } from "@konverge/kubeflow-operator";
import {
  exactRole,
  repairsChildren,
  survivesCrashesAndErrors,
  survivesCrdDeletion,
  survivesDeletion,
  survivesFaults,
  survivesSpecChanges,
} from "@konverge/operator-suite";
import type { AnyObject } from "konverge";
import { schedulerPlugins, volcano } from "./gang-scenarios.ts";
import { AS_WRITTEN, isPod, KINDS, MPI, PYTORCH, TENSORFLOW, TRAIN } from "./jobs.ts";
import { aLifeOf, elastic } from "./lifecycle-scenarios.ts";
import { mpiEnds, mpiFails, mpiNameTaken, mpiRunning, mpiSuspended } from "./mpi-scenarios.ts";
import { aFullLife, aShortLife, lostLabels, runsOf } from "./survival-scenarios.ts";
import {
  trainJobMpiEnds,
  trainJobMpiFails,
  trainJobMpiResting,
  trainJobMpiRunning,
  trainJobMpiSuspended,
} from "./train-mpi-scenarios.ts";
import {
  trainJobFails,
  trainJobInitialized,
  trainJobKeepsRuntime,
  trainJobLimits,
  trainJobResting,
  trainJobRuns,
  trainJobStuck,
  trainJobSuspended,
  trainJobWaits,
} from "./train-scenarios.ts";

/** Which node a pod lands on is the scheduler's choice. */
const CHANCE = new Set(["nodeName", "podIP", "podIPs", "hostIP", "hostIPs"]);
const mask = (object: AnyObject): AnyObject =>
  JSON.parse(JSON.stringify(object, (key, value) => (CHANCE.has(key) ? "…" : value)));

/** A running pod of a Job that another client deletes counts as failed, and is replaced: how many there were is history. */
const withoutLostPods = (object: AnyObject): AnyObject => {
  const { failed: _, ...status } = (object["status"] ?? {}) as { failed?: number };
  if (object.kind === "Job") return mask({ ...object, status });
  if (object.kind !== "MPIJob") return mask(object);
  return JSON.parse(JSON.stringify(mask(object), (key, value) => (key === "failed" ? undefined : value)));
};

/** An operator that was cut off while a job ran finds only its end: it never saw that the job was running. */
const withoutHistory = (object: AnyObject): AnyObject => {
  const { status, ...rest } = withoutLostPods(object) as AnyObject & { status?: { conditions?: { type: string }[] } };
  const { conditions } = status ?? {};
  if (!conditions?.some(({ type }) => type === "Succeeded")) return { ...rest, ...(status && { status }) };
  return {
    ...rest,
    status: { ...status, conditions: conditions.filter(({ type }) => type !== "Running") },
  } as AnyObject;
};

/** The user and an autoscaler scale the job, which has failed in the end: who was last, and what was counted, depends on when it was made. */
const withoutSize = (object: AnyObject): AnyObject => {
  const { status: _, ...rest } = object as AnyObject & { status?: object };
  if (object.kind === "HorizontalPodAutoscaler") return mask(rest);
  if (object.kind !== "PyTorchJob") return mask(object);
  return JSON.parse(
    JSON.stringify(mask(object), (key, value) => (key === "replicas" || key === "active" ? undefined : value)),
  );
};

survivesCrashesAndErrors("a job ends the same, whatever fails", kubeflowOperator, aFullLife, {
  mask,
  ...AS_WRITTEN,
});
survivesCrashesAndErrors("a job that is cut short keeps no pod, whatever fails", kubeflowOperator, aShortLife, {
  mask: withoutSize,
  ...AS_WRITTEN,
});
survivesDeletion("a job goes with all it has, in each phase", kubeflowOperator, aFullLife, TENSORFLOW.kind, {
  mask,
  ...AS_WRITTEN,
});
survivesDeletion("an elastic job goes with its autoscaler, in each phase", kubeflowOperator, elastic, PYTORCH.kind, {
  mask,
  ...AS_WRITTEN,
});
for (const kind of KINDS) {
  const { kind: name } = kind.kind;
  survivesFaults(`a ${name} runs, whatever fails`, kubeflowOperator, runsOf(kind), { mask, ...AS_WRITTEN });
  survivesSpecChanges(`a ${name} is as before after its spec is changed, and back`, kubeflowOperator, runsOf(kind), {
    mask,
    ...AS_WRITTEN,
    except: canComplete,
  });
  // Pods stay as they were asked for: what is wrong with one is its end, and another one comes.
  repairsChildren(`each field of a ${name}'s Services is repaired`, kubeflowOperator, runsOf(kind), {
    mask,
    ...AS_WRITTEN,
    except: isPod,
  });
  survivesCrdDeletion(`a ${name} survives that its kind goes and comes`, kubeflowOperator, runsOf(kind), {
    mask,
    ...AS_WRITTEN,
  });
}
survivesFaults("an MPIJob runs, whatever fails", kubeflowOperator, mpiRunning, {
  mask: withoutLostPods,
  ...AS_WRITTEN,
});
survivesFaults("an MPIJob runs to its end, whatever fails", kubeflowOperator, mpiEnds, {
  mask: withoutHistory,
  ...AS_WRITTEN,
});
survivesCrashesAndErrors("an MPIJob is suspended and resumed, whatever fails", kubeflowOperator, mpiSuspended, {
  mask,
  ...AS_WRITTEN,
});
survivesCrashesAndErrors("an MPIJob fails, whatever else fails", kubeflowOperator, mpiFails, { mask, ...AS_WRITTEN });
survivesDeletion("an MPIJob goes with all it has, in each phase", kubeflowOperator, mpiFails, MPI.kind, {
  mask,
  ...AS_WRITTEN,
});
repairsChildren("each field of an MPIJob's Service, hosts and keys is repaired", kubeflowOperator, mpiRunning, {
  mask,
  ...AS_WRITTEN,
  except: ({ kind }) => kind === "Pod" || kind === "Job",
});
survivesFaults("a TrainJob runs to its end, whatever fails", kubeflowOperator, trainJobRuns, {
  mask: withoutLostPods,
  ...AS_WRITTEN,
});
survivesFaults("a TrainJob is initialized and trains, whatever fails", kubeflowOperator, trainJobInitialized, {
  mask: withoutLostPods,
  ...AS_WRITTEN,
});
survivesCrashesAndErrors("a TrainJob is suspended and resumed, whatever fails", kubeflowOperator, trainJobSuspended, {
  mask,
  ...AS_WRITTEN,
});
survivesCrashesAndErrors("a TrainJob fails, whatever else fails", kubeflowOperator, trainJobFails, {
  mask,
  ...AS_WRITTEN,
});
survivesCrashesAndErrors("a TrainJob keeps its runtime, whatever fails", kubeflowOperator, trainJobKeepsRuntime, {
  mask,
  ...AS_WRITTEN,
});
survivesDeletion("a TrainJob goes with all it has, in each phase", kubeflowOperator, trainJobSuspended, TRAIN.kind, {
  mask,
  ...AS_WRITTEN,
});
repairsChildren(
  "each field of a TrainJob's Service, claims and runtime is repaired",
  kubeflowOperator,
  trainJobResting,
  {
    mask,
    ...AS_WRITTEN,
    except: ({ kind }) => kind === "Pod" || kind === "Job",
  },
);
survivesFaults("a TrainJob with MPI runs, whatever fails", kubeflowOperator, trainJobMpiRunning, {
  mask: withoutLostPods,
  ...AS_WRITTEN,
});
survivesFaults("a TrainJob with MPI ends with its launcher, whatever fails", kubeflowOperator, trainJobMpiEnds, {
  mask: withoutLostPods,
  ...AS_WRITTEN,
});
survivesCrashesAndErrors(
  "a TrainJob with MPI is suspended and resumed, whatever fails",
  kubeflowOperator,
  trainJobMpiSuspended,
  { mask, ...AS_WRITTEN },
);
survivesDeletion(
  "a TrainJob with MPI goes with all it has, in each phase",
  kubeflowOperator,
  trainJobMpiFails,
  TRAIN.kind,
  {
    mask,
    ...AS_WRITTEN,
  },
);
repairsChildren("each field of the keys and hosts of a TrainJob is repaired", kubeflowOperator, trainJobMpiResting, {
  mask,
  ...AS_WRITTEN,
  except: ({ kind }) => kind === "Pod" || kind === "Job",
});
exactRole(
  kubeflowOperator,
  [
    ...KINDS.map(aLifeOf),
    mpiSuspended,
    mpiNameTaken,
    trainJobSuspended,
    trainJobWaits,
    trainJobLimits,
    trainJobStuck,
    aShortLife,
    lostLabels,
    schedulerPlugins,
    volcano,
  ],
  AS_WRITTEN,
);

/** A job without any of the replicas that decide is complete at once, and what is complete stays so. */
function canComplete(_job: AnyObject, pointer = ""): boolean {
  return pointer.endsWith("/replicas");
}
