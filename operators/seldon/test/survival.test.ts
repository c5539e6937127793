import { repairsChildren, survivesApiErrors, survivesCrdDeletion, survivesDeletion } from "@konverge/operator-suite";
import { SeldonDeployment, seldonOperator } from "@konverge/seldon-operator";
import { classifier } from "./scenarios.ts";

// Samples of what seldon.proof.test.ts tries as a whole.
survivesApiErrors("a model is served whatever request fails", seldonOperator, classifier, { runs: 4 });
survivesDeletion("a model goes with all it has", seldonOperator, classifier, SeldonDeployment, { every: 3 });
repairsChildren("a model's children are repaired", seldonOperator, classifier, { every: 40 });
survivesCrdDeletion("a model survives that its kind goes and comes", seldonOperator, classifier);
