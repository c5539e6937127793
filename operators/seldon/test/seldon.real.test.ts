import { onReal } from "@konverge/operator-suite";
import { badModels } from "./bad-input.ts";
import { badInput, classifier, explained, graph, lives } from "./scenarios.ts";

onReal({
  "a prepackaged server serves a model": classifier,
  "children are repaired, follow the spec, and go with their owner": lives,
  "a graph spans pods and is scaled": graph,
  "a predictor is explained by a Deployment of its own": explained,
  "bad input is refused or reported, and recovers when mended": badInput,
  "a type of GPU that no node has": badModels["a type of GPU that no node has"]!,
  "a quota that is exceeded": badModels["a quota that is exceeded"]!,
});
