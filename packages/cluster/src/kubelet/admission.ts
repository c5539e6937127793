import type { Pod } from "@konverge/kinds";
import { hostPortsOf, portsClash } from "../scheduler/host-ports.ts";

/** Why a node will not run a pod that has been given to it. */
export interface Rejection {
  readonly reason: string;
  readonly message: string;
}

/**
 * Judges a pod that comes to a node. The scheduler has looked at all this before; who names a node in the pod itself has
 * gone round it.
 */
export function rejectionOf(pod: Pod, others: Iterable<Pod>): Rejection | undefined {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return undefined;
  for (const other of others) {
    const isOver = other.status?.phase === "Succeeded" || other.status?.phase === "Failed";
    if (isOver || other.metadata.uid === pod.metadata.uid || other.spec?.nodeName !== pod.spec?.nodeName) continue;
    if (!portsClash(wanted, hostPortsOf(other))) continue;
    const message = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
    return { reason: "NodePorts", message };
  }
  return undefined;
}
