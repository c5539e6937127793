import { onEmbedded } from "@konverge/operator-suite";
import { aFullLife, apiErrors, crdDeleted, deletedInEachPhase, lostLabels } from "./survival-scenarios.ts";

onEmbedded("a job lives, rests and ends", aFullLife);
onEmbedded("a job that is deleted leaves nothing behind, in whatever phase it is", deletedInEachPhase);
onEmbedded("errors of the API server are waited out", apiErrors);
onEmbedded("a CRD may go and come back", crdDeleted);
onEmbedded("a pod that lost its labels is replaced", lostLabels);
