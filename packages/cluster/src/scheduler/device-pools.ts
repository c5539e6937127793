import { parseQuantity, type Quantity } from "@konverge/core";
import type { Device, DeviceRequestAllocationResult, ResourceSlice } from "@konverge/kinds";
import { matchesTerm } from "../controllers/node/node-matching.ts";
import type { NodeInfo } from "./node-info.ts";

/** A device of the newest generation of its pool. */
export interface Offered {
  readonly id: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: Device;
}

/** What is used of a device or of a pool, by name. */
type Used = Map<string, Quantity>;

/**
 * The devices that there are and what of them is given out: whole devices, shares of those that several may have, and what
 * devices that are parts of one thing (a GPU and its partitions) take of the counters of their pool.
 *
 * What is taken in the course of a search must be given back by the caller: one account serves all nodes.
 */
export class DevicePools {
  readonly #offers: { readonly one: Offered; readonly slice: ResourceSlice }[] = [];
  readonly #known = new Map<string, Offered>();
  /** How often a device is given out: more than once only if it may be shared. */
  readonly #uses = new Map<string, number>();
  readonly #shares = new Map<string, Used>();
  /** What is left of counters: by `driver/pool/set/counter`. */
  readonly #counters: Used = new Map();

  constructor(slices: Iterable<ResourceSlice>, given: Iterable<DeviceRequestAllocationResult>) {
    const all = [...slices];
    const newest = new Map<string, number>();
    const poolOf = ({ spec }: ResourceSlice) => `${spec.driver}/${spec.pool.name}`;
    for (const slice of all) {
      newest.set(poolOf(slice), Math.max(newest.get(poolOf(slice)) ?? 0, slice.spec.pool.generation));
    }
    for (const slice of all) {
      const { driver, pool, devices = [], sharedCounters = [] } = slice.spec;
      if (pool.generation !== newest.get(poolOf(slice))) continue;
      for (const { name, counters } of sharedCounters)
        for (const [counter, { value }] of Object.entries(counters))
          this.#counters.set(`${poolOf(slice)}/${name}/${counter}`, parseQuantity(value));
      for (const device of devices) {
        const one = { id: `${driver}/${pool.name}/${device.name}`, driver, pool: pool.name, device };
        this.#offers.push({ one, slice });
        this.#known.set(one.id, one);
      }
    }
    for (const { driver, pool, device, adminAccess, consumedCapacity = {} } of given) {
      const id = `${driver}/${pool}/${device}`;
      if (adminAccess) continue;
      const consumed = Object.entries(consumedCapacity).map(([name, text]) => [name, parseQuantity(text)] as const);
      this.take(this.#known.get(id) ?? { id, driver, pool, device: { name: device } }, new Map(consumed));
    }
  }

  /** The devices that a node reaches. */
  *reachedFrom(node: NodeInfo): Generator<Offered> {
    for (const { one, slice } of this.#offers) {
      if (reaches(slice.spec.perDeviceNodeSelection ? one.device : slice.spec, node)) yield one;
    }
  }

  /** Whether there is so much of a device left. */
  hasLeft(one: Offered, consumed: ReadonlyMap<string, Quantity>): boolean {
    const isUsed = (this.#uses.get(one.id) ?? 0) > 0;
    if (isUsed && !one.device.allowMultipleAllocations) return false;
    // Its counters are taken with the first share.
    if (!isUsed && this.#countersOf(one).some(([key, amount]) => !isEnough(this.#counters.get(key), amount)))
      return false;
    const used = this.#shares.get(one.id);
    return [...consumed].every(([name, amount]) => {
      const whole = one.device.capacity?.[name]?.value;
      const before = used?.get(name);
      return whole === undefined || isEnough(parseQuantity(whole), before ? before.add(amount) : amount);
    });
  }

  take(one: Offered, consumed: ReadonlyMap<string, Quantity>): void {
    const uses = this.#uses.get(one.id) ?? 0;
    this.#uses.set(one.id, uses + 1);
    if (uses === 0)
      for (const [key, amount] of this.#countersOf(one)) this.#counters.set(key, this.#counters.get(key)!.sub(amount));
    if (!one.device.allowMultipleAllocations) return;
    const used: Used = this.#shares.get(one.id) ?? new Map();
    for (const [name, amount] of consumed) used.set(name, used.get(name)?.add(amount) ?? amount);
    this.#shares.set(one.id, used);
  }

  giveBack(one: Offered, consumed: ReadonlyMap<string, Quantity>): void {
    const uses = (this.#uses.get(one.id) ?? 0) - 1;
    this.#uses.set(one.id, uses);
    if (uses === 0)
      for (const [key, amount] of this.#countersOf(one)) this.#counters.set(key, this.#counters.get(key)!.add(amount));
    const used = this.#shares.get(one.id);
    for (const [name, amount] of consumed) used?.set(name, used.get(name)!.sub(amount));
  }

  /** What a device takes of its pool's counters, as far as the pool has them. */
  #countersOf({ driver, pool, device }: Offered): [string, Quantity][] {
    return (device.consumesCounters ?? []).flatMap(({ counterSet, counters }) =>
      Object.entries(counters)
        .map(([name, { value }]): [string, Quantity] => [
          `${driver}/${pool}/${counterSet}/${name}`,
          parseQuantity(value),
        ])
        .filter(([key]) => this.#counters.has(key)),
    );
  }
}

function isEnough(left: Quantity | undefined, amount: Quantity): boolean {
  return left !== undefined && left.cmp(amount) >= 0;
}

function reaches(from: Pick<Device, "nodeName" | "nodeSelector" | "allNodes">, node: NodeInfo): boolean {
  if (from.allNodes) return true;
  if (from.nodeName) return from.nodeName === node.name;
  return from.nodeSelector?.nodeSelectorTerms.some((term) => matchesTerm(node, term)) ?? false;
}
