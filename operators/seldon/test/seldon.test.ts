import { onEmbedded } from "@konverge/operator-suite";
import { badInput, besideUpstream, classifier, explained, graph, lives } from "./scenarios.ts";

onEmbedded("a prepackaged server serves a model", classifier);
onEmbedded("children are repaired, follow the spec, and go with their owner", lives);
onEmbedded("a graph spans pods and is scaled", graph);
onEmbedded("a predictor is explained by a Deployment of its own", explained);
onEmbedded("bad input is refused or reported, and works when it is fixed", badInput);
onEmbedded("upstream's operator is left alone", besideUpstream);
