import type { AnyObject } from "@konverge/core";
import { kroOperator } from "@konverge/declarative";
import { operators } from "@konverge/operators";
import { rayOperatorWith } from "@konverge/ray-operator";
import type { Operator } from "@konverge/runtime";
import { printYaml } from "@konverge/schema";
import { SimulatedServe } from "../../operators/ray/test/simulated-serve.ts";

/**
 * The operator with this name. Simulated pods have no Ray dashboard: what the operator asks it is answered here. The role of one that
 * runs graphs follows from those of the manifest.
 */
export function measuredOperator(name: string, objects: readonly AnyObject[]): Operator {
  if (name === "kro-operator") return operatorOf(objects);
  if (name === "ray-operator") return rayOperatorWith(new SimulatedServe().fetch);
  const operator = operators.find((one) => one.name === name);
  if (!operator) throw new Error(`there is no operator ${name}`);
  return operator;
}

/** The operator with the permissions for those graphs that can work. */
function operatorOf(objects: readonly AnyObject[]): Operator {
  const yamlOf = (kind: string) => objects.filter((one) => one.kind === kind).map((one) => printYaml(one));
  const crds = yamlOf("CustomResourceDefinition");
  let graphs: string[] = [];
  let left = yamlOf("ResourceGraphDefinition");
  for (let before = -1; before !== left.length; ) {
    before = left.length;
    left = left.filter((graph) => {
      if (!canWork([...graphs, graph], crds)) return true;
      graphs = [...graphs, graph];
      return false;
    });
  }
  return kroOperator({ graphs, crds });
}

function canWork(graphs: readonly string[], crds: readonly string[]): boolean {
  try {
    kroOperator({ graphs, crds });
    return true;
  } catch {
    return false;
  }
}
