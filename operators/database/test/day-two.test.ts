import { onEmbedded } from "@konverge/operator-suite";
import {
  changesParameters,
  leavesCordonedNode,
  letsNodesDrain,
  outlivesExporter,
  replacesByDefault,
  updatesOneAtATime,
} from "./day-two-scenarios.ts";

onEmbedded("parameters are reloaded, or restart servers in an order in which all can go on", changesParameters);
onEmbedded("with three servers, a lost primary is replaced unattended", replacesByDefault);
onEmbedded("the primary of a cordoned node hands over before it is drained", leavesCordonedNode);
onEmbedded("a server that does not become ready does not block a drain forever", letsNodesDrain);
onEmbedded("a crashing exporter does not fail over a healthy primary, nor take it from its clients", outlivesExporter);
onEmbedded("one Database at a time gets the pods of a new operator, the least important first", updatesOneAtATime);
