import type { Predictor, Unit } from "./seldon-deployment.ts";
import { isServer } from "./servers.ts";

/** All units of a graph, parents before their children. */
export function unitsOf(graph: Unit): Unit[] {
  return [graph, ...(graph.children ?? []).flatMap(unitsOf)];
}

export function unitNamed(predictor: Predictor, name: string): Unit | undefined {
  return unitsOf(predictor.graph).find((unit) => unit.name === name);
}

/** What a unit is: said, or a model if it says nothing at all or is a prepackaged server. */
export function typeOf({ type, methods, implementation }: Unit): Unit["type"] {
  if (isServer(implementation)) return "MODEL";
  return type ?? (methods || implementation ? undefined : "MODEL");
}
