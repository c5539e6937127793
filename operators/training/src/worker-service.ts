import { Service } from "konverge/kinds";
import { ATTEMPT_LABEL, JOB_LABEL, labelsOf, serviceName } from "./names.ts";
import type { TrainingJob } from "./training-job.ts";
import { portOf } from "./worker-environment.ts";

/** The headless Service that gives each worker a host name, before it is ready: workers wait for each other. */
export function serviceFor(job: TrainingJob) {
  return Service.draft({
    metadata: { name: serviceName(job), namespace: job.metadata.namespace, labels: labelsOf(job) },
    spec: {
      clusterIP: "None",
      publishNotReadyAddresses: true,
      // A name never leads to a pod of an earlier gang, which may be stuck on a lost node.
      selector: { [JOB_LABEL]: job.metadata.name, [ATTEMPT_LABEL]: String(job.status?.attempt ?? 0) },
      ports: [{ name: "training", port: portOf(job), targetPort: "training" }],
    },
  });
}
