import { parseQuantity, type QuantityValue } from "@konverge/core";
import type { Container, Pod } from "@konverge/kinds";

/** Quantities by resource name: CPU in millicores, everything else in whole units. */
export type Amounts = Map<string, number>;

const read = new Map<string, number>();

/** An amount as a number. The same few texts come again and again. */
export function amountOf(resource: string, text: QuantityValue): number {
  const key = resource === "cpu" ? `m${text}` : String(text);
  let value = read.get(key);
  if (value === undefined) {
    const quantity = parseQuantity(text);
    value = Number(resource === "cpu" ? quantity.milliValue() : quantity.value());
    if (read.size > 10_000) read.clear();
    read.set(key, value);
  }
  return value;
}

/** The quantities of a resource list. */
export function amountsOf(list: Readonly<Record<string, QuantityValue>> = {}): Amounts {
  return new Map(Object.entries(list).map(([resource, text]) => [resource, amountOf(resource, text)]));
}

export function addAmounts(to: Amounts, more: ReadonlyMap<string, number>, sign = 1): void {
  for (const [resource, amount] of more) to.set(resource, (to.get(resource) ?? 0) + sign * amount);
}

/**
 * What a pod asks of its node: the sum of its containers and sidecars, or what an init container needs beside the
 * sidecars that run by then, if that is more; and the overhead of its runtime.
 */
export function requestsOf({ spec }: Pick<Pod, "spec">): Amounts {
  const total: Amounts = new Map();
  for (const container of spec?.containers ?? []) addAmounts(total, requestedBy(container));
  const sidecars: Amounts = new Map();
  const most: Amounts = new Map();
  for (const container of spec?.initContainers ?? []) {
    const requested = requestedBy(container);
    if (container.restartPolicy === "Always") {
      addAmounts(sidecars, requested);
      addAmounts(total, requested);
      raise(most, sidecars);
    } else {
      const together = new Map(requested);
      addAmounts(together, sidecars);
      raise(most, together);
    }
  }
  raise(total, most);
  raise(total, amountsOf(spec?.resources?.requests));
  addAmounts(total, amountsOf(spec?.overhead));
  return total;
}

function requestedBy({ resources }: Container): Amounts {
  const { limits, requests } = resources ?? {};
  return amountsOf({ ...limits, ...requests });
}

function raise(amounts: Amounts, least: ReadonlyMap<string, number>): void {
  for (const [resource, amount] of least) if (amount > (amounts.get(resource) ?? 0)) amounts.set(resource, amount);
}
