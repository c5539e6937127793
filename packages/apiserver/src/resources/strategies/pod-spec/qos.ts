import { parseQuantity, type QuantityValue } from "@konverge/core";
import type { Container, PodSpec } from "../../../codec/objects.ts";

/** How readily a pod's containers are killed: by what they request and by what they are limited to. */
export function qosClass(spec: PodSpec): string {
  const holders = spec.resources ? [spec] : [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const all = holders.map((holder) => amounts(holder));
  if (all.every(({ requests, limits }) => requests.size === 0 && limits.size === 0)) return "BestEffort";
  const guaranteed = all.every(({ requests, limits }) =>
    ["cpu", "memory"].every((name) => {
      const limit = limits.get(name);
      return limit !== undefined && (requests.get(name)?.equals(limit) ?? true);
    }),
  );
  return guaranteed ? "Guaranteed" : "Burstable";
}

function amounts({ resources }: Pick<Container, "resources">) {
  const read = (list: Record<string, QuantityValue> = {}) =>
    new Map(
      Object.entries(list)
        .filter(([name]) => name === "cpu" || name === "memory")
        .map(([name, amount]) => [name, parseQuantity(String(amount))] as const)
        .filter(([, amount]) => !amount.isZero()),
    );
  return { requests: read(resources?.requests), limits: read(resources?.limits) };
}
