import type { Client } from "@konverge/client";
import { type Clock, keyOf, type ObjectKey, timestamp } from "@konverge/core";
import {
  type AllocationResult,
  DeviceClass,
  type DeviceRequestAllocationResult,
  ResourceClaim,
  ResourceSlice,
} from "@konverge/kinds";
import type { Cache, CacheView } from "@konverge/runtime";
import { DELETE_PROTECTION } from "../controllers/resource-claim/resource-claims.ts";
import { type Allocated, allocate, classesOf, type DeviceState, isReachable } from "./device-allocation.ts";
import { DevicePools } from "./device-pools.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodInfo } from "./pod-info.ts";

/** How many pods may share the devices of one claim. */
const MOST_CONSUMERS = 256;

/** What the claimed devices of one pod say about nodes. */
export interface DeviceRules {
  /** The pod is not to be tried yet: its claims are not there. */
  readonly isEarly: boolean;
  /** Why the pod can be on no node at all. */
  readonly problem: string | undefined;
  refuses(node: NodeInfo): string | undefined;
}

/** The devices for claims of pods: the inventory, the allocations, and allocating them. */
export class Devices {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #claims: CacheView<ResourceClaim>;
  readonly #slices: CacheView<ResourceSlice>;
  readonly #classes: CacheView<DeviceClass>;
  /** Given out, though not yet written: by claim. */
  readonly #assumed = new Map<ObjectKey, AllocationResult>();

  /** Only made for the first pod that claims devices: most clusters never need it. */
  constructor(client: Client, clock: Clock, cache: Cache) {
    this.#client = client;
    this.#clock = clock;
    this.#claims = cache.use(ResourceClaim);
    this.#slices = cache.use(ResourceSlice);
    this.#classes = cache.use(DeviceClass);
  }

  async whenSynced(): Promise<void> {
    await Promise.all([this.#claims.whenSynced(), this.#slices.whenSynced(), this.#classes.whenSynced()]);
  }

  /** Calls back when something about claims or devices is different. */
  onChange(listener: () => void): void {
    for (const view of [this.#claims, this.#slices, this.#classes])
      (view as CacheView<ResourceClaim>).subscribe(listener);
  }

  classOf(name: string): DeviceClass | undefined {
    return this.#classes.get(name);
  }

  /** Which devices there are now, and what of them is given out. */
  #state(newShare: () => string): DeviceState {
    return {
      pools: new DevicePools(this.#slices.list(), this.#given()),
      classOf: (name) => this.classOf(name),
      newShare,
    };
  }

  *#given(): Generator<DeviceRequestAllocationResult> {
    for (const { devices } of this.#assumed.values()) yield* devices?.results ?? [];
    for (const claim of this.#claims.list())
      if (!this.#assumed.has(keyOf(claim))) yield* claim.status?.allocation?.devices?.results ?? [];
  }

  rulesFor(pod: PodInfo): DeviceRules {
    const claims = pod.deviceClaims.map((name) => this.#claims.get(`${pod.namespace}/${name}`));
    const isEarly = claims.some((claim) => claim === undefined);
    const found = claims.flatMap((claim) => claim ?? []);
    const state = this.#state(() => "");
    return {
      isEarly,
      problem: isEarly ? undefined : this.#problem(pod, found),
      refuses: (node) => {
        const here: Allocated[] = [];
        try {
          for (const claim of found) {
            if (claim.status?.allocation) {
              if (!isReachable(claim, node)) return "resourceclaim not available on the node";
              continue;
            }
            const allocated = allocate(claim, node, state);
            if (!allocated) return "cannot allocate all claims";
            here.push(allocated);
          }
          return undefined;
        } finally {
          for (const one of here.reverse()) one.giveBack();
        }
      },
    };
  }

  #problem(pod: PodInfo, claims: readonly ResourceClaim[]): string | undefined {
    for (const claim of claims) {
      const { allocation, reservedFor = [] } = claim.status ?? {};
      if (claim.metadata.deletionTimestamp)
        return `resourceclaim ${JSON.stringify(claim.metadata.name)} is being deleted`;
      const isOurs = reservedFor.some(({ uid }) => uid === pod.uid);
      if (allocation && !isOurs && reservedFor.length >= MOST_CONSUMERS) return "resourceclaim in use";
      if (allocation) continue;
      if (this.#assumed.has(keyOf(claim))) return `resource claim ${keyOf(claim)} is in the process of being allocated`;
      const missing = classesOf(claim).find(({ className }) => !this.classOf(className));
      if (missing) return `request ${missing.request}: device class ${missing.className} does not exist`;
    }
    return undefined;
  }

  /** Gives a pod its devices on a node. */
  async bind(pod: PodInfo, node: NodeInfo): Promise<void> {
    const state = this.#state(() => this.#clock.random.uuid());
    const writes: { claim: ResourceClaim; allocation: AllocationResult }[] = [];
    for (const name of pod.deviceClaims) {
      const claim = this.#claims.get(`${pod.namespace}/${name}`);
      if (!claim) throw new Error(`resourceclaim ${JSON.stringify(name)} not found`);
      const allocation = claim.status?.allocation ?? allocate(claim, node, state)?.result;
      if (!allocation) throw new Error(`cannot allocate ${keyOf(claim)} on ${node.name}`);
      writes.push({ claim, allocation });
    }
    for (const { claim, allocation } of writes) this.#assumed.set(keyOf(claim), allocation);
    try {
      for (const { claim, allocation } of writes) await this.#write(pod, claim, allocation);
    } finally {
      for (const { claim } of writes) this.#assumed.delete(keyOf(claim));
    }
  }

  async #write(pod: PodInfo, given: ResourceClaim, allocation: AllocationResult): Promise<void> {
    const { finalizers = [] } = given.metadata;
    const claim = finalizers.includes(DELETE_PROTECTION)
      ? given
      : await this.#client.update(ResourceClaim, {
          ...given,
          metadata: { ...given.metadata, finalizers: [...finalizers, DELETE_PROTECTION] },
        });
    const { reservedFor = [] } = claim.status ?? {};
    const consumer = { resource: "pods", name: pod.name, uid: pod.uid };
    await this.#client.updateStatus(ResourceClaim, {
      ...claim,
      status: {
        ...claim.status,
        allocation: { allocationTimestamp: timestamp(this.#clock), ...allocation },
        reservedFor: reservedFor.some(({ uid }) => uid === pod.uid) ? reservedFor : [...reservedFor, consumer],
      },
    });
  }
}
