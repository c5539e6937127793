import { DynamoGraphDeployment, dynamoOperator } from "@konverge/dynamo-operator";
import { repairsChildren, survivesApiErrors, survivesCrdDeletion, survivesDeletion } from "@konverge/operator-suite";
import { graph, isClaim } from "./scenarios.ts";

// Samples of what dynamo.proof.test.ts tries as a whole.
survivesApiErrors("a graph is deployed whatever request fails", dynamoOperator, graph, { runs: 3 });
survivesDeletion("a graph goes with all it has", dynamoOperator, graph, DynamoGraphDeployment, { every: 10 });
repairsChildren("a graph's children, and theirs, are repaired", dynamoOperator, graph, {
  every: 60,
  except: isClaim,
});
survivesCrdDeletion("a graph survives that its kinds go and come", dynamoOperator, graph);
