import { onEmbedded } from "@konverge/operator-suite";
import { byAmbassador, byGatewayApi, byIstio, withoutRouter } from "./route-scenarios.ts";

onEmbedded("without a router, it is reported that requests are not split, until one is installed", withoutRouter);
onEmbedded("a VirtualService of Istio splits and mirrors requests", byIstio);
onEmbedded("Mappings of Ambassador split and mirror requests", byAmbassador);
onEmbedded("routes of the Gateway API split and mirror requests, and follow the settings", byGatewayApi);
