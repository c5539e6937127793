import {
  exactRole,
  repairsChildren,
  survivesCrashesAndErrors,
  survivesCrdDeletion,
  survivesDeletion,
  survivesFaults,
  survivesSpecChanges,
} from "@konverge/operator-suite";
import { SeldonDeployment, seldonOperator } from "@konverge/seldon-operator";
import { byAmbassador, byGatewayApi, byIstio } from "./route-scenarios.ts";
import { besideUpstream, classifier, explained, graph, lives, recovers, withExplainer } from "./scenarios.ts";

exactRole(seldonOperator, [classifier, lives, graph, besideUpstream, byIstio, byAmbassador, byGatewayApi]);

survivesFaults("a model is served, whatever fails", seldonOperator, classifier);
survivesFaults("a model is renamed and deleted, whatever fails", seldonOperator, lives);
survivesCrashesAndErrors("a model finds room later, whatever fails", seldonOperator, recovers);
survivesCrashesAndErrors("an explainer comes, changes and goes, whatever fails", seldonOperator, explained);
survivesDeletion("an explainer goes with its model, in each phase", seldonOperator, explained, SeldonDeployment);
survivesDeletion("a model goes with all it has, in each phase", seldonOperator, classifier, SeldonDeployment);
survivesDeletion("a graph of models goes with all it has, in each phase", seldonOperator, graph, SeldonDeployment);
repairsChildren("each field of a model's children is repaired", seldonOperator, classifier);
repairsChildren("each field of an explainer's children is repaired", seldonOperator, withExplainer);
survivesCrdDeletion("a model survives that its kind goes and comes", seldonOperator, classifier);
survivesCrdDeletion("an explainer survives that its kind goes and comes", seldonOperator, withExplainer);
survivesSpecChanges("a model is served as before after its spec is changed, and back", seldonOperator, classifier);
