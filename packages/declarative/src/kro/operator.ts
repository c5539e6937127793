import { type Controller, type Operator, operator } from "@konverge/runtime";
import { type AnyCrd, crdsFromYaml, parseYaml } from "@konverge/schema";
import { compileGraph } from "./compile-graph.ts";
import { graphController } from "./graph-controller.ts";
import { instanceController } from "./instance-controller.ts";
import { kindsOf } from "./known-kinds.ts";
import { ResourceGraphDefinition } from "./resource-graph-definition.ts";

/** Options of {@link kroOperator}. */
export interface KroOperatorOptions {
  /** Default: `kro-operator`. */
  readonly name?: string;
  /**
   * The graphs whose permissions the operator's role has: ResourceGraphDefinitions as YAML. Others are checked, too, but their
   * objects cannot be made without a role that you write. Default: none.
   */
  readonly graphs?: readonly string[];
  /** The CustomResourceDefinitions of the kinds in these graphs that are not Kubernetes' own, as YAML. */
  readonly crds?: readonly string[];
}

/**
 * An operator that runs ResourceGraphDefinitions of kro: each becomes a kind, and each object of the kind a graph of resources.
 *
 * ```ts
 * export default kroOperator({ graphs: [readFileSync("webapp.yaml", "utf8")] });
 * ```
 */
export function kroOperator({ name = "kro-operator", graphs = [], crds = [] }: KroOperatorOptions = {}): Operator {
  return operator({
    name,
    description: "Turns graphs of resources into kinds, from ResourceGraphDefinitions.",
    kinds: [ResourceGraphDefinition],
    create: () => ({ controllers: [graphController(knownControllers(graphs, crds))] }),
  });
}

/** The graphs in YAML files. Other objects in them are left out. */
export function graphsFromYaml(yaml: string): ResourceGraphDefinition[] {
  return parseYaml(yaml)
    .filter((object) => (object as { kind?: unknown } | null)?.kind === ResourceGraphDefinition.kind)
    .map((object) => ResourceGraphDefinition.parse(object));
}

/** The controllers of graphs that are known. One graph may be made of the kinds of others. */
function knownControllers(graphs: readonly string[], crds: readonly string[]): Controller[] {
  const definitions: AnyCrd[] = crds.flatMap(crdsFromYaml);
  let left = graphs.flatMap(graphsFromYaml);
  const controllers: Controller[] = [];
  while (left.length > 0) {
    const later: ResourceGraphDefinition[] = [];
    let problem: unknown;
    for (const one of left) {
      try {
        const graph = compileGraph(one, kindsOf(definitions));
        definitions.push(graph.definition as never);
        controllers.push(instanceController(graph));
      } catch (error) {
        problem = error;
        later.push(one);
      }
    }
    if (later.length === left.length)
      throw new Error(`the graph ${later[0]!.metadata.name} is wrong: ${(problem as Error).message}`, {
        cause: problem,
      });
    left = later;
  }
  return controllers;
}
