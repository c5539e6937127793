import type { Node, Taint } from "@konverge/kinds";
import type { PodInfo } from "./pod-info.ts";
import { type Amounts, addAmounts, amountsOf } from "./requests.ts";

/** What the scheduler knows of a node, and what is on it. It is kept up to date, never rebuilt. */
export class NodeInfo {
  readonly name: string;
  labels: Readonly<Record<string, string>> = {};
  taints: readonly Taint[] = [];
  unschedulable = false;
  allocatable: Amounts = new Map();
  readonly requested: Amounts = new Map();
  readonly pods = new Map<string, PodInfo>();
  readonly #ports = new Map<string, number>();
  #shape = "";

  constructor(name: string) {
    this.name = name;
  }

  /** Reads the Node. Returns whether anything that matters to the scheduler has changed. */
  update(node: Node): boolean {
    const { labels = {} } = node.metadata;
    const { taints = [], unschedulable = false } = node.spec ?? {};
    const { allocatable = {} } = node.status ?? {};
    const shape = JSON.stringify([labels, taints, unschedulable, allocatable]);
    if (shape === this.#shape) return false;
    this.#shape = shape;
    // Pods name the keys that are looked up here: those that every object has are not labels.
    this.labels = Object.assign(Object.create(null), labels);
    this.taints = taints;
    this.unschedulable = unschedulable;
    this.allocatable = amountsOf(allocatable);
    return true;
  }

  add(pod: PodInfo): void {
    this.pods.set(pod.uid, pod);
    addAmounts(this.requested, pod.requests);
    for (const port of pod.hostPorts) this.#ports.set(port, (this.#ports.get(port) ?? 0) + 1);
  }

  remove(pod: PodInfo): void {
    if (!this.pods.delete(pod.uid)) return;
    addAmounts(this.requested, pod.requests, -1);
    for (const port of pod.hostPorts) {
      const left = (this.#ports.get(port) ?? 1) - 1;
      if (left === 0) this.#ports.delete(port);
      else this.#ports.set(port, left);
    }
  }

  /** Whether a port is taken: the same port on the same address, or on all of them. */
  hasPort(wanted: string): boolean {
    if (this.#ports.size === 0) return false;
    const at = wanted.lastIndexOf("/") + 1;
    const port = wanted.slice(0, at);
    if (this.#ports.has(wanted) || this.#ports.has(port)) return true;
    if (at < wanted.length) return false;
    for (const taken of this.#ports.keys()) if (taken.startsWith(port)) return true;
    return false;
  }
}
