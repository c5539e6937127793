import { onEmbedded } from "@konverge/operator-suite";
import { badInput, besideUpstream, classifier, explained, graph, lives } from "./scenarios.ts";

onEmbedded("a prepackaged server serves a model", classifier);
onEmbedded("children are repaired, follow the spec, and are deleted with their owner", lives);
onEmbedded("a graph spans pods and is scaled", graph);
onEmbedded("a predictor's explainer has a separate Deployment", explained);
onEmbedded("bad input is refused or reported, and works when it is fixed", badInput);
onEmbedded("objects are ignored where upstream's operator runs", besideUpstream);
