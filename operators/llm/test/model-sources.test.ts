import { onEmbedded } from "@konverge/operator-suite";
import { imageVolumesUnsupported, secretMissing, sourcesConverge } from "./model-sources-scenarios.ts";

onEmbedded("models from each source of the README become ready", sourcesConverge);
onEmbedded("a missing Secret of a source is reported, and found when it is created", secretMissing);
onEmbedded("image volumes are reported as unsupported on a Kubernetes that has none", imageVolumesUnsupported);
