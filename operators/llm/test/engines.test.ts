import { onEmbedded } from "@konverge/operator-suite";
import { devicesClaimed, engineChanges, enginesServe } from "./engines-scenarios.ts";

onEmbedded("models of each engine of the README become ready", enginesServe);
onEmbedded("another engine is rolled out", engineChanges);
onEmbedded("each replica claims devices by a template", devicesClaimed);
