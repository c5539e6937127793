import { dynamoOperator } from "@konverge/dynamo-operator";
import { exactRole, survivesCrashes } from "@konverge/operator-suite";
import { autoscaled, build, graph, groups, lives } from "./scenarios.ts";

survivesCrashes("a graph is deployed, whenever the operator dies", dynamoOperator, graph);
exactRole(dynamoOperator, [graph, lives, build, groups, autoscaled]);
