import { type Operator, operator } from "@konverge/runtime";
import { type AnyCrd, type AnyKind, crdsFromYaml, fromCRD, parseYaml } from "@konverge/schema";
import { kindsOf } from "../kinds/known-kinds.ts";
import { compileGraph } from "./compile-graph.ts";
import type { Graph } from "./graph.ts";
import { graphController } from "./graph-controller.ts";
import { instanceController } from "./instance-controller.ts";
import { ResourceGraphDefinition } from "./resource-graph-definition.ts";

/** Options of {@link kroOperator}. */
export interface KroOperatorOptions {
  /** Default: `kro-operator`. */
  readonly name?: string;
  /**
   * The graphs whose permissions the operator's role has, and whose kinds are installed with it: ResourceGraphDefinitions as
   * YAML. Others are checked, too, but their objects cannot be made without a role that you write. Default: none.
   */
  readonly graphs?: readonly string[];
  /** The CustomResourceDefinitions of the kinds in these graphs that are not Kubernetes' own, as YAML. */
  readonly crds?: readonly string[];
}

/**
 * An operator that runs ResourceGraphDefinitions of kro: each becomes a kind, and each object of the kind a graph of resources.
 * Throws if one of `graphs` is wrong.
 *
 * ```ts
 * export default kroOperator({ graphs: [readFileSync("webapp.yaml", "utf8")] });
 * ```
 */
export function kroOperator({ name = "kro-operator", graphs = [], crds = [] }: KroOperatorOptions = {}): Operator {
  const known = compiled(graphs.flatMap(graphsFromYaml), crds.flatMap(crdsFromYaml));
  return operator({
    name,
    description: "Turns graphs of resources into kinds, from ResourceGraphDefinitions.",
    // Instances first, in the order in which all of it can be deleted: their controller stops with their graph.
    kinds: [
      ...known.map(({ definition }) => fromCRD(definition as AnyCrd) as unknown as AnyKind),
      ResourceGraphDefinition,
    ],
    create: () => ({ controllers: [graphController(known.map(instanceController))] }),
  });
}

/** The graphs in a YAML file. Other objects in it are left out. */
export function graphsFromYaml(yaml: string): ResourceGraphDefinition[] {
  return parseYaml(yaml)
    .filter((object) => (object as { kind?: unknown } | null)?.kind === ResourceGraphDefinition.kind)
    .map((object) => ResourceGraphDefinition.parse(object));
}

/** Compiles graphs, of which some may be made of the kinds of others. */
function compiled(definitions: readonly ResourceGraphDefinition[], crds: AnyCrd[]): Graph[] {
  const graphs: Graph[] = [];
  let left = definitions;
  while (left.length > 0) {
    const later: ResourceGraphDefinition[] = [];
    let problem: unknown;
    for (const one of left) {
      try {
        const graph = compileGraph(one, kindsOf(crds));
        crds.push(graph.definition as AnyCrd);
        graphs.push(graph);
      } catch (error) {
        problem = error;
        later.push(one);
      }
    }
    if (later.length === left.length) {
      const which = later[later.length - 1]!.metadata.name;
      throw new Error(`the graph ${which} is wrong: ${(problem as Error).message}`, { cause: problem });
    }
    left = later;
  }
  return graphs;
}
