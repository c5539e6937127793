import {
  exactRole,
  repairsChildren,
  survivesApiErrors,
  survivesCrashes,
  survivesCrdDeletion,
  survivesDeletion,
} from "@konverge/operator-suite";
import { SeldonDeployment, seldonOperator } from "@konverge/seldon-operator";
import { besideUpstream, classifier, explained, graph, lives, recovers, withExplainer } from "./scenarios.ts";

exactRole(seldonOperator, [classifier, lives, graph, besideUpstream]);

survivesCrashes("a model is served, whenever the operator dies", seldonOperator, classifier);
survivesCrashes("a model is renamed and deleted, whenever the operator dies", seldonOperator, lives);
survivesCrashes("a model finds room later, whenever the operator dies", seldonOperator, recovers);
survivesCrashes("an explainer comes, changes and goes, whenever the operator dies", seldonOperator, explained);
survivesApiErrors("a model is served whatever request fails", seldonOperator, classifier);
survivesApiErrors("an explainer comes, changes and goes, whatever request fails", seldonOperator, explained, {
  runs: 60,
});
survivesDeletion("an explainer goes with its model, in each phase", seldonOperator, explained, SeldonDeployment);
survivesDeletion("a model goes with all it has, in each phase", seldonOperator, classifier, SeldonDeployment);
survivesDeletion("a graph of models goes with all it has, in each phase", seldonOperator, graph, SeldonDeployment);
repairsChildren("each field of a model's children is repaired", seldonOperator, classifier);
repairsChildren("each field of an explainer's children is repaired", seldonOperator, withExplainer);
survivesCrdDeletion("a model survives that its kind goes and comes", seldonOperator, classifier);
survivesCrdDeletion("an explainer survives that its kind goes and comes", seldonOperator, withExplainer);
