import { onReal } from "@konverge/operator-suite";
import { badInput } from "./llm-model-bad-input.ts";
import { lives, monitored, repairs, restsWhenDone, samplesConverge } from "./llm-model-scenarios.ts";

const { "an image that cannot be pulled": _needsNodesThatPull, ...onAnyNodes } = badInput;

onReal({
  "an LLMModel lives": lives,
  "where Prometheus' operator is installed, it is told what to scrape": monitored,
  "what somebody deletes or edits by hand is put right": repairs,
  "the samples of LLMModels converge": samplesConverge,
  "nothing is written when nothing changes": restsWhenDone,
  ...onAnyNodes,
});
