import {
  DynamoComponent,
  DynamoComponentDeployment,
  DynamoGraphDeployment,
  dynamoOperator,
} from "@konverge/dynamo-operator";
import {
  exactRole,
  repairsChildren,
  survivesApiErrors,
  survivesCrashes,
  survivesCrdDeletion,
  survivesDeletion,
} from "@konverge/operator-suite";
import { buildQuota } from "./bad-input.ts";
import { drains } from "./scaling-scenarios.ts";
import { autoscaled, build, component, graph, groups, image, isClaim, lives, restart } from "./scenarios.ts";

exactRole(dynamoOperator, [graph, lives, build, buildQuota, groups, autoscaled, drains]);

survivesCrashes("a graph is deployed, whenever the operator dies", dynamoOperator, graph);
survivesCrashes("a graph changes and is deleted, whenever the operator dies", dynamoOperator, lives);
survivesCrashes("an image is built, whenever the operator dies", dynamoOperator, build);
survivesCrashes("a graph is restarted, whenever the operator dies", dynamoOperator, restart);
survivesCrashes("pods are drained before they go, whenever the operator dies", dynamoOperator, drains);
survivesCrashes("a component of its own is deployed, whenever the operator dies", dynamoOperator, component);
survivesApiErrors("a graph is deployed whatever request fails", dynamoOperator, graph);
survivesApiErrors("an image is built whatever request fails", dynamoOperator, build, { runs: 30 });
survivesApiErrors("a graph is restarted whatever request fails", dynamoOperator, restart, { runs: 40 });
survivesApiErrors("pods are drained before they go, whatever request fails", dynamoOperator, drains, { runs: 40 });
survivesDeletion("a graph goes with all it has, in each phase", dynamoOperator, graph, DynamoGraphDeployment);
survivesDeletion("a component of its own goes with all it has", dynamoOperator, component, DynamoComponentDeployment);
survivesDeletion("a graph goes while it is restarted, in each phase", dynamoOperator, restart, DynamoGraphDeployment);
survivesDeletion(
  "a graph goes while its pods are drained, in each phase",
  dynamoOperator,
  drains,
  DynamoGraphDeployment,
);
survivesDeletion("an image of its own goes with its build", dynamoOperator, image, DynamoComponent);
survivesDeletion("an image goes with its build, in each phase", dynamoOperator, build, DynamoGraphDeployment);
repairsChildren("each field of a graph's children, and theirs, is repaired", dynamoOperator, graph, {
  except: isClaim,
});
// A Job that has lost all its labels is given those of its pods by the server, which then stay.
const isItsLabel = (_job: object, pointer?: string) => pointer === "/metadata/labels/nvidia.com~1dynamo-image";
repairsChildren("each field of a build that can be changed is repaired", dynamoOperator, image, { except: isItsLabel });
repairsChildren("each field of a component's children is repaired", dynamoOperator, component, { except: isClaim });
survivesCrdDeletion("a graph survives that its kinds go and come", dynamoOperator, graph);
survivesCrdDeletion("an image survives that its kind goes and comes", dynamoOperator, image);
