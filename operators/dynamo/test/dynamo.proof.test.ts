import { DynamoComponentDeployment, DynamoGraphDeployment, dynamoOperator } from "@konverge/dynamo-operator";
import {
  exactRole,
  repairsChildren,
  survivesApiErrors,
  survivesCrashes,
  survivesCrdDeletion,
  survivesDeletion,
} from "@konverge/operator-suite";
import { drains } from "./scaling-scenarios.ts";
import { autoscaled, build, component, graph, groups, isClaim, lives, restart } from "./scenarios.ts";

exactRole(dynamoOperator, [graph, lives, build, groups, autoscaled, drains]);

survivesCrashes("a graph is deployed, whenever the operator dies", dynamoOperator, graph);
survivesCrashes("a graph changes and is deleted, whenever the operator dies", dynamoOperator, lives, { every: 2 });
survivesCrashes("an image is built, whenever the operator dies", dynamoOperator, build, { every: 3 });
survivesCrashes("a graph is restarted, whenever the operator dies", dynamoOperator, restart, { every: 3 });
survivesApiErrors("a graph is deployed whatever request fails", dynamoOperator, graph);
survivesApiErrors("an image is built whatever request fails", dynamoOperator, build, { runs: 30 });
survivesDeletion("a graph goes with all it has, in each phase", dynamoOperator, graph, DynamoGraphDeployment);
survivesDeletion("a component of its own goes with all it has", dynamoOperator, component, DynamoComponentDeployment);
survivesDeletion("an image goes with its build, in each phase", dynamoOperator, build, DynamoGraphDeployment, {
  every: 3,
});
repairsChildren("each field of a graph's children, and theirs, is repaired", dynamoOperator, graph, {
  except: isClaim,
});
survivesCrdDeletion("a graph survives that its kinds go and come", dynamoOperator, graph);
