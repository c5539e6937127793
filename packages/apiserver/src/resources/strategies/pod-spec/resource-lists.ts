import { parseQuantity, type Quantity, type QuantityValue } from "@konverge/core";
import type { Container, PodSpec } from "../../../codec/objects.ts";

/** Quantities by resource name: `{ cpu: "100m" }`. */
export type ResourceList = Record<string, QuantityValue>;

type Amounts = Map<string, Quantity>;

/**
 * What the containers of a pod ask for together: the sum over those that run side by side, but never less than what one
 * init container needs beside the sidecars that were started before it.
 */
export function containerAmounts(spec: PodSpec, of: "requests" | "limits"): Amounts {
  const running: Amounts = new Map();
  for (const container of spec.containers ?? []) add(running, amountsOf(container, of));
  const sidecars: Amounts = new Map();
  const starting: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const own = amountsOf(container, of);
    if (container.restartPolicy === "Always") {
      add(running, own);
      add(sidecars, own);
      raise(starting, sidecars);
      continue;
    }
    add(own, sidecars);
    raise(starting, own);
  }
  raise(running, starting);
  return running;
}

/** What a pod asks for: its containers, or what it says itself, and its overhead. */
export function podAmounts(spec: PodSpec, of: "requests" | "limits"): Amounts {
  const amounts = containerAmounts(spec, of);
  for (const [name, amount] of Object.entries(spec.resources?.[of] ?? {})) amounts.set(name, parseQuantity(amount));
  const overhead = listAmounts(spec.overhead);
  for (const [name, amount] of overhead) {
    const current = amounts.get(name);
    if (current || of === "requests") amounts.set(name, current ? current.add(amount) : amount);
  }
  return amounts;
}

/** A list with its quantities parsed. */
export function listAmounts(list: ResourceList | undefined): Amounts {
  return new Map(Object.entries(list ?? {}).map(([name, amount]) => [name, parseQuantity(String(amount))]));
}

function amountsOf({ resources }: Container, of: "requests" | "limits"): Amounts {
  return listAmounts(resources?.[of]);
}

function add(to: Amounts, amounts: Amounts): void {
  for (const [name, amount] of amounts) to.set(name, to.get(name)?.add(amount) ?? amount);
}

function raise(to: Amounts, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const current = to.get(name);
    if (!current || current.cmp(amount) < 0) to.set(name, amount);
  }
}
