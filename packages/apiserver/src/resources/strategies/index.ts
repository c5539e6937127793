import type { AnyObject } from "@konverge/core";
import type { ResourceDefinition, Strategy } from "../definition.ts";

/** What is special about built-in kinds, by group and kind. */
const strategies: Record<string, Strategy> = {};

const ORDINARY: Strategy = { hasGeneration: true, allowUnconditionalUpdate: true };

/** The strategy of a built-in kind. */
export function strategyOf(group: string, kind: string): Strategy {
  return strategies[`${group}/${kind}`] ?? ORDINARY;
}

/** How objects of a built-in kind go from one version to another. */
export function conversionOf(_group: string, _kind: string): ResourceDefinition["convert"] {
  return (objects, apiVersion) => objects.map((object): AnyObject => ({ ...object, apiVersion }));
}
