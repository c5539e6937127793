import { Service } from "konverge/kinds";
import { JOB_LABEL, labelsOf, serviceName } from "./names.ts";
import type { TrainingJob } from "./training-job.ts";
import { portOf } from "./worker-environment.ts";

/** The headless Service that gives each worker a host name, before it is ready: workers wait for each other. */
export function serviceFor(job: TrainingJob) {
  return Service.draft({
    metadata: { name: serviceName(job), namespace: job.metadata.namespace, labels: labelsOf(job) },
    spec: {
      clusterIP: "None",
      publishNotReadyAddresses: true,
      selector: { [JOB_LABEL]: job.metadata.name },
      ports: [{ name: "training", port: portOf(job), targetPort: "training" }],
    },
  });
}
