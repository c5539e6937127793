import { onEmbedded } from "@konverge/operator-suite";
import { AS_WRITTEN, KINDS } from "./jobs.ts";
import {
  aFatalEnd,
  aLifeOf,
  aPyTorchJob,
  elastic,
  limits,
  managedByOthers,
  upstreamIsThere,
} from "./lifecycle-scenarios.ts";

onEmbedded("a PyTorchJob runs under upstream's names, labels and variables", aPyTorchJob, AS_WRITTEN);
for (const kind of KINDS) {
  onEmbedded(
    `a ${kind.kind.kind} is repaired, suspended, resumed, done, cleaned up and gone`,
    aLifeOf(kind),
    AS_WRITTEN,
  );
}
onEmbedded("a fatal exit code ends a job", aFatalEnd, AS_WRITTEN);
onEmbedded("a job that takes too long or restarts too often ends, with all its pods", limits, AS_WRITTEN);
onEmbedded("an elastic PyTorchJob has an autoscaler and can be scaled", elastic, AS_WRITTEN);
onEmbedded("where upstream's operator is installed, nothing is touched", upstreamIsThere, AS_WRITTEN);
onEmbedded("a job that is managed by others is left alone", managedByOthers, AS_WRITTEN);
