import { kubeflowOperator } from "@konverge/kubeflow-operator";
import { exactRole, survivesCrashes } from "@konverge/operator-suite";
import type { AnyObject } from "konverge";
import { schedulerPlugins, volcano } from "./gang-scenarios.ts";
import { KINDS } from "./jobs.ts";
import { aLifeOf } from "./lifecycle-scenarios.ts";
import { aFullLife, aShortLife, lostLabels } from "./survival-scenarios.ts";

/** Which node a pod lands on is the scheduler's choice. */
const CHANCE = new Set(["nodeName", "podIP", "podIPs", "hostIP", "hostIPs"]);
const mask = (object: AnyObject): AnyObject =>
  JSON.parse(JSON.stringify(object, (key, value) => (CHANCE.has(key) ? "…" : value)));

survivesCrashes("a job ends the same, whenever the operator dies", kubeflowOperator, aFullLife, { mask });
survivesCrashes("a job that is cut short keeps no pod, whenever the operator dies", kubeflowOperator, aShortLife, {
  mask,
});
exactRole(kubeflowOperator, [...KINDS.map(aLifeOf), aShortLife, lostLabels, schedulerPlugins, volcano]);
