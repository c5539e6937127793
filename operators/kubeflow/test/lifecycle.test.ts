import { onEmbedded } from "@konverge/operator-suite";
import { KINDS } from "./jobs.ts";
import {
  aFatalEnd,
  aLifeOf,
  aPyTorchJob,
  elastic,
  limits,
  managedByOthers,
  upstreamIsThere,
} from "./lifecycle-scenarios.ts";

onEmbedded("a PyTorchJob runs under upstream's names, labels and variables", aPyTorchJob);
for (const kind of KINDS) {
  onEmbedded(`a ${kind.kind.kind} is repaired, suspended, resumed, done, cleaned up and gone`, aLifeOf(kind));
}
onEmbedded("a fatal exit code ends a job", aFatalEnd);
onEmbedded("a job that takes too long or restarts too often ends, with all its pods", limits);
onEmbedded("an elastic PyTorchJob has an autoscaler and can be scaled", elastic);
onEmbedded("where upstream's operator is installed, nothing is touched", upstreamIsThere);
onEmbedded("a job that is managed by others is left alone", managedByOthers);
