import { onEmbedded } from "@konverge/operator-suite";
import { lives, monitored, repairs, restsWhenDone, rollsWithoutDip, samplesConverge } from "./llm-model-scenarios.ts";

onEmbedded("an LLMModel lives: its children appear, follow it, are reported, and go with it", lives);
onEmbedded("where Prometheus' operator is installed, it is told what to scrape", monitored);
onEmbedded("what somebody deletes or edits by hand is put right", repairs);
onEmbedded("another image comes in without a dip of capacity", rollsWithoutDip);
onEmbedded("the samples of LLMModels converge", samplesConverge);
onEmbedded("nothing is written when nothing changes, also after a restart", restsWhenDone);
