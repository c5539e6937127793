import { onEmbedded } from "@konverge/operator-suite";
import {
  lives,
  monitored,
  repairs,
  restsWhenDone,
  rollsWithoutDip,
  rollsWithoutRoom,
  samplesConverge,
} from "./llm-model-scenarios.ts";

onEmbedded("an LLMModel lives: its children appear, follow it, are reported, and go with it", lives);
onEmbedded("where the Prometheus operator is installed, it gets a ServiceMonitor", monitored);
onEmbedded("what a user deletes or edits is repaired", repairs);
onEmbedded("another image comes in without a dip of capacity", rollsWithoutDip);
onEmbedded("where all GPUs are in use, a rollout reports that and replaces one replica at a time", rollsWithoutRoom);
onEmbedded("the samples of LLMModels converge", samplesConverge);
onEmbedded("nothing is written when nothing changes, also after a restart", restsWhenDone);
