import { onEmptyCluster, onReal } from "@konverge/operator-suite";
import { badInput, noNodes } from "./llm-model-bad-input.ts";
import { lives, repairs, restsWhenDone, samplesConverge } from "./llm-model-scenarios.ts";

onReal({
  "an LLMModel lives": lives,
  "what a user deletes or edits is repaired": repairs,
  "the samples of LLMModels converge": samplesConverge,
  "nothing is written when nothing changes": restsWhenDone,
  ...badInput,
  "no nodes": onEmptyCluster(noNodes),
});
