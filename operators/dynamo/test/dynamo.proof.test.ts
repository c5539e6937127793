import {
  DynamoComponent,
  DynamoComponentDeployment,
  DynamoGraphDeployment,
  dynamoOperator,
} from "@konverge/dynamo-operator";
import {
  exactRole,
  repairsChildren,
  survivesCrashesAndErrors,
  survivesCrdDeletion,
  survivesDeletion,
  survivesFaults,
  survivesSpecChanges,
} from "@konverge/operator-suite";
import type { AnyObject } from "konverge";
import { buildQuota } from "./bad-input.ts";
import { drains } from "./scaling-scenarios.ts";
import { autoscaled, build, component, graph, groups, image, isClaim, lives, restart } from "./scenarios.ts";
import { memoryService, picker } from "./upstream-scenarios.ts";

exactRole(dynamoOperator, [graph, lives, build, buildQuota, groups, autoscaled, drains, picker, memoryService]);

survivesFaults("a graph is deployed, whatever fails", dynamoOperator, graph);
survivesCrashesAndErrors("a graph changes and is deleted, whatever fails", dynamoOperator, lives);
survivesFaults("an endpoint picker and its pool are deployed, whatever fails", dynamoOperator, picker);
survivesCrashesAndErrors("an image is built, whatever fails", dynamoOperator, build);
survivesCrashesAndErrors("a graph is restarted, whatever fails", dynamoOperator, restart);
survivesCrashesAndErrors("pods are drained before they go, whatever fails", dynamoOperator, drains);
survivesCrashesAndErrors("a component of its own is deployed, whatever fails", dynamoOperator, component);
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
// A claim grows and never shrinks: its size depends on what it was before.
const withoutSize = (object: AnyObject) => (isClaim(object) ? { ...object, spec: {}, status: {} } : object);
survivesSpecChanges("a component is as before after its spec is changed, and back", dynamoOperator, component, {
  mask: withoutSize,
});
