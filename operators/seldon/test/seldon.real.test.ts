import { onEmptyCluster, onReal } from "@konverge/operator-suite";
import { seldonOperator } from "@konverge/seldon-operator";
import { badModels as everyBadModel, withoutNodes } from "./bad-input.ts";
import { byAmbassador, byGatewayApi, byIstio, withoutRouter } from "./route-scenarios.ts";
import { badInput, besideUpstream, classifier, explained, graph, lives } from "./scenarios.ts";

const { "more memory than a node has": _asInBadInput, ...badModels } = everyBadModel;

onReal(
  {
    "a prepackaged server serves a model": classifier,
    "children are repaired, follow the spec, and are deleted with their owner": lives,
    "a graph spans pods and is scaled": graph,
    "a predictor's explainer has a separate Deployment": explained,
    "bad input is refused or reported, and works when it is fixed": badInput,
    ...badModels,
    "without a router, it is reported that requests are not split, until one is installed": withoutRouter,
    "a VirtualService of Istio splits and mirrors requests": byIstio,
    "Mappings of Ambassador split and mirror requests": byAmbassador,
    "routes of the Gateway API split and mirror requests, and follow the settings": byGatewayApi,
    "no nodes": onEmptyCluster(withoutNodes),
    // Last, since its objects remain under upstream's control.
    "objects are ignored where upstream's operator runs": besideUpstream,
  },
  { role: seldonOperator },
);
