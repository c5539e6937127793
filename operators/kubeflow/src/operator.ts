import { operator } from "konverge";
import { FirstOccurrences } from "./first-occurrences.ts";
import { gangScheduler } from "./gang-scheduler.ts";
import { jobAdmission, mxnetRules, pytorchRules, tensorflowRules, xgboostRules } from "./job-admission.ts";
import { jobController } from "./job-controller.ts";
import { JobMetrics } from "./job-metrics.ts";
import { mpi } from "./mpi-framework.ts";
import { MPIJob } from "./mpi-job.ts";
import { mpiJobController } from "./mpi-job-controller.ts";
import { mpiRules } from "./mpi-rules.ts";
import { mxnet } from "./mx-framework.ts";
import { MXJob } from "./mx-job.ts";
import { pytorch } from "./pytorch-framework.ts";
import { PyTorchJob } from "./pytorch-job.ts";
import { tensorflow } from "./tf-framework.ts";
import { TFJob } from "./tf-job.ts";
import { TrainJob } from "./train-job.ts";
import { trainJobController } from "./train-job-controller.ts";
import { runtimeAdmission, trainJobAdmission } from "./train-rules.ts";
import { ClusterTrainingRuntime, TrainingRuntime } from "./training-runtime.ts";
import { waitSettings } from "./wait-for-master.ts";
import { xgboost } from "./xgboost-framework.ts";
import { XGBoostJob } from "./xgboost-job.ts";

/** Everything of this package in one: what `konverge run`, `install` and `deploy` take. */
export const kubeflowOperator = operator({
  name: "kubeflow-operator",
  description: "Runs Kubeflow's training jobs: TrainJob, PyTorchJob, TFJob, XGBoostJob, MXJob, MPIJob.",
  kinds: [PyTorchJob, TFJob, XGBoostJob, MXJob, MPIJob, TrainJob, TrainingRuntime, ClusterTrainingRuntime],
  settings: [
    {
      flag: "gangSchedulerName",
      env: "GANG_SCHEDULER_NAME",
      default: "none",
      description: "Gang scheduler: volcano, the name of a scheduler with the coscheduling plugin, or none.",
    },
    {
      flag: "pytorchInitContainerImage",
      env: "PYTORCH_INIT_CONTAINER_IMAGE",
      description:
        "The image in which workers of PyTorchJobs wait for their master, with sh and getent or nslookup. Default: that in which they train.",
    },
    {
      flag: "pytorchInitContainerMaxTries",
      env: "PYTORCH_INIT_CONTAINER_MAX_TRIES",
      default: "100",
      description: "How often such a worker tries to find its master, every two seconds.",
    },
    {
      flag: "pytorchInitContainerTemplateFile",
      env: "PYTORCH_INIT_CONTAINER_TEMPLATE_FILE",
      default: "/etc/config/initContainer.yaml",
      description: "A file with the list of containers to wait in, instead of the built-in one.",
    },
    {
      flag: "customClusterDomain",
      env: "CUSTOM_CLUSTER_DOMAIN",
      description: "Domain suffix of names in TF_CONFIG and in hosts of MPIJobs, such as cluster.local. Default: none.",
    },
  ],
  create({ metrics: registry, settings }) {
    const gang = gangScheduler(settings["gangSchedulerName"] ?? "none");
    const shared = { gang, metrics: new JobMetrics(registry), occurrences: new FirstOccurrences() };
    const torch = pytorch(waitSettings(settings));
    const flow = tensorflow({ clusterDomain: settings["customClusterDomain"] });
    const [boost, mx] = [xgboost(), mxnet()];
    const rules = {
      torch: pytorchRules(torch),
      flow: tensorflowRules(flow),
      boost: xgboostRules(boost),
      mx: mxnetRules(mx),
    };
    return {
      controllers: [
        jobController({ framework: torch, rules: rules.torch, ...shared }),
        jobController({ framework: flow, rules: rules.flow, ...shared }),
        jobController({ framework: boost, rules: rules.boost, ...shared }),
        jobController({ framework: mx, rules: rules.mx, ...shared }),
        mpiJobController({ ...shared, rules: mpiRules, clusterDomain: settings["customClusterDomain"] }),
        trainJobController(shared.metrics),
      ],
      admissions: [
        jobAdmission(torch, rules.torch),
        jobAdmission(flow, rules.flow),
        jobAdmission(boost, rules.boost),
        jobAdmission(mx, rules.mx),
        jobAdmission(mpi(), mpiRules),
        trainJobAdmission(),
        runtimeAdmission(TrainingRuntime),
        runtimeAdmission(ClusterTrainingRuntime),
      ],
    };
  },
});
