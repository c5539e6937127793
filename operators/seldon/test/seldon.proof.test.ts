import { exactRole, survivesCrashes } from "@konverge/operator-suite";
import { seldonOperator } from "@konverge/seldon-operator";
import { besideUpstream, classifier, graph, lives } from "./scenarios.ts";

survivesCrashes("a model is served, whenever the operator dies", seldonOperator, classifier);
exactRole(seldonOperator, [classifier, lives, graph, besideUpstream]);
