import { onEmbedded } from "@konverge/operator-suite";
import { noSuchScheduler, schedulerPlugins, volcano } from "./gang-scenarios.ts";
import { AS_WRITTEN } from "./jobs.ts";

onEmbedded("pods of a job are placed together by the coscheduling plugin", schedulerPlugins, AS_WRITTEN);
onEmbedded("volcano admits the PodGroup before pods are made", volcano, AS_WRITTEN);
onEmbedded("a gang scheduler that is not installed is reported", noSuchScheduler, AS_WRITTEN);
