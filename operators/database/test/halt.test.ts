import { onEmbedded } from "@konverge/operator-suite";
import { fencesByAnnotation, hibernatesWithStandbys } from "./halt-scenarios.ts";

onEmbedded("fenced servers stop in their pods, and a fenced primary is not replaced", fencesByAnnotation);
onEmbedded(
  "a hibernated database with standbys comes back with the same primary, term and rows",
  hibernatesWithStandbys,
);
