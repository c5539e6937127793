import { onReal } from "@konverge/operator-suite";
import { badInput, classifier, graph, lives } from "./scenarios.ts";

onReal({
  "a prepackaged server serves a model": classifier,
  "children are repaired, follow the spec, and go with their owner": lives,
  "a graph spans pods and is scaled": graph,
  "bad input is refused or reported, and recovers when mended": badInput,
});
