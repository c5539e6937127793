import { onEmbedded } from "@konverge/operator-suite";
import { noSuchScheduler, schedulerPlugins, volcano } from "./gang-scenarios.ts";

onEmbedded("pods of a job are placed together by the coscheduling plugin", schedulerPlugins);
onEmbedded("volcano admits the PodGroup before pods are made", volcano);
onEmbedded("a gang scheduler that is not there is told of", noSuchScheduler);
