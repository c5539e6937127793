import { kubeflowOperator } from "@konverge/kubeflow-operator";
import { onEmptyCluster, onReal } from "@konverge/operator-suite";
import { noNodes, pastAdmission, quota, refused, stuck, unmakeable } from "./bad-input-scenarios.ts";
import { schedulerPlugins, volcano } from "./gang-scenarios.ts";
import { AS_WRITTEN, KINDS } from "./jobs.ts";
import { aLifeOf, aPyTorchJob, elastic } from "./lifecycle-scenarios.ts";
import { badMpiJobs, mpiStuck } from "./mpi-scenarios.ts";
import { aFullLife, aShortLife, lostLabels } from "./survival-scenarios.ts";
import { keysStay, trainJobMpiResting } from "./train-mpi-scenarios.ts";
import { badTrainJobs, trainJobResting } from "./train-scenarios.ts";

const ofEachKind = KINDS.flatMap((kind) => [
  [`a ${kind.kind.kind} is repaired, suspended, resumed, done, cleaned up and gone`, aLifeOf(kind)] as const,
  [
    `a ${kind.kind.kind} without room, GPUs of its type, a claim or an image says so, and goes on`,
    stuck(kind),
  ] as const,
]);

onReal(
  {
    "a PyTorchJob runs under upstream's names, labels and variables": aPyTorchJob,
    "an elastic PyTorchJob has an autoscaler and can be scaled": elastic,
    "a job lives, rests and ends": aFullLife,
    ...Object.fromEntries(ofEachKind),
    "MPIJobs that could never run are refused": badMpiJobs,
    "a launcher without room, or whose name is taken, is reported, and runs when it can": mpiStuck,
    "a suspended TrainJob has all but its Jobs": trainJobResting,
    "TrainJobs and runtimes that could never run are refused or reported": badTrainJobs,
    "keys of a TrainJob that lose their labels stay": keysStay(trainJobMpiResting, "pi-mpi-ssh-auth"),
    "a job that takes too long keeps no pod": aShortLife,
    "what is wrong is refused, and the message says where": refused,
    "an exceeded quota is reported, and the job waits for it": quota,
    "pods that cannot be created are reported, and created once they can be": unmakeable,
    "a job that came past admission says what is wrong with it": pastAdmission,
    "a pod that lost its labels is replaced": lostLabels,
    "without nodes jobs of all kinds wait, and run when one comes": onEmptyCluster(noNodes),
    "pods of a job are placed together by the coscheduling plugin": schedulerPlugins,
    "volcano admits the PodGroup before pods are made": volcano,
  },
  { role: kubeflowOperator, ...AS_WRITTEN },
);
