import { onEmbedded } from "@konverge/operator-suite";
import { drainsAndTells, drainsForSoLong, drainsNoMore, follows } from "./scaling-scenarios.ts";

onEmbedded("pods that are scaled away are asked no more, and finish what they have first", drainsAndTells);
onEmbedded("a pod that never finishes goes when its time is up, also after a crash", drainsForSoLong);
onEmbedded("a pod that is wanted after all is asked again", drainsNoMore);
onEmbedded("a model's workers follow the load that is measured, and the spec stays as it is", follows);
