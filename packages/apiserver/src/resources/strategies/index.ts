import type { Strategy } from "../definition.ts";

/** What is special about built-in kinds, by group and kind. */
const strategies: Record<string, Strategy> = {};

const ORDINARY: Strategy = { hasGeneration: true, allowUnconditionalUpdate: true };

export function strategyOf(group: string, kind: string): Strategy {
  return strategies[`${group}/${kind}`] ?? ORDINARY;
}
