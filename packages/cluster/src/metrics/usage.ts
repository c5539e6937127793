import { Quantity } from "@konverge/core";
import { behaviorOf } from "../images/behavior.ts";
import type { MeasuredUsage } from "../images/container-space.ts";
import type { SimulatedContainer } from "../kubelet/container.ts";
import type { PodWorker } from "../kubelet/pod-worker.ts";
import { amountOf } from "../scheduler/requests.ts";

/** What a container uses: thousandths of a CPU, and bytes. */
export interface Usage {
  readonly cpu: number;
  readonly memory: number;
}

/** A container without requests uses a little all the same. */
const IDLE = { cpu: 1, memory: 8 * 1024 * 1024 };
/** The default usage of a container, as a share of its requests. */
const SHARE = 0.5;

/**
 * What a running container uses: what its annotations say, what has been measured of one that is interpreted, or half of
 * what it has requested.
 */
export function usageOf({ pod }: PodWorker, { spec }: SimulatedContainer, measured?: MeasuredUsage): Usage {
  const { cpu, memory } = behaviorOf(pod, spec);
  const { requests = {} } = spec.resources ?? {};
  const use = (resource: "cpu" | "memory", said: string | undefined) => {
    if (said !== undefined) return amountOf(resource, said);
    if (measured)
      return resource === "cpu" ? Math.max(IDLE.cpu, Math.round(measured.cpu * 1000)) : IDLE.memory + measured.memory;
    const requested = requests[resource];
    return requested === undefined ? IDLE[resource] : Math.round(amountOf(resource, requested) * SHARE);
  };
  return { cpu: use("cpu", cpu), memory: use("memory", memory) };
}

/** As metrics-server writes it: nanocores and kibibytes. */
export function usageQuantities({ cpu, memory }: Usage): { cpu: string; memory: string } {
  const kibibytes = Math.ceil(memory / 1024) * 1024;
  return { cpu: `${Math.round(cpu * 1_000_000)}n`, memory: Quantity.of(kibibytes, "BinarySI").toString() };
}
