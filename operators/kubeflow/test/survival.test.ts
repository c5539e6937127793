import { onEmbedded } from "@konverge/operator-suite";
import { AS_WRITTEN } from "./jobs.ts";
import { aFullLife, apiErrors, crdDeleted, deletedInEachPhase, lostLabels } from "./survival-scenarios.ts";

onEmbedded("a job lives, rests and ends", aFullLife, AS_WRITTEN);
onEmbedded("a job that is deleted leaves nothing behind, in whatever phase it is", deletedInEachPhase, AS_WRITTEN);
onEmbedded("errors of the API server are waited out", apiErrors, AS_WRITTEN);
onEmbedded("a CRD may go and come back", crdDeleted, AS_WRITTEN);
onEmbedded("a pod that lost its labels is replaced", lostLabels, AS_WRITTEN);
