import { onEmbedded } from "@konverge/operator-suite";
import { badInput, cluster, lives, replaced } from "./scenarios.ts";

onEmbedded("a head, its Service and workers, as upstream makes them", cluster);
onEmbedded("workers are repaired, scaled, deleted by name, suspended", lives);
onEmbedded("pods that ended or are outdated are replaced", replaced);
onEmbedded("bad input is refused or reported, and recovers when mended", badInput);
