import type { QuantityValue } from "@konverge/core";
import type { Container, Pod } from "@konverge/kinds";
import { type Amounts, addAmounts, amountsOf, requestsOf } from "../scheduler/requests.ts";
import type { SimulatedContainer } from "./container.ts";

/** The capacity of a node, and the other pods on it with their allocated resources. */
export interface Room {
  readonly allocatable: Readonly<Record<string, QuantityValue>>;
  readonly others: Iterable<Pod>;
}

/** Why a node has no capacity for a pod's requested resources; undefined when it has. */
export function resizeProblem(pod: Pod, { allocatable, others }: Room): string | undefined {
  const [wanted, total] = [requestsOf(pod), amountsOf(allocatable)];
  const used: Amounts = new Map();
  for (const other of others) {
    const { phase } = other.status ?? {};
    if (other.metadata.uid !== pod.metadata.uid && phase !== "Succeeded" && phase !== "Failed")
      addAmounts(used, requestsOf(other));
  }
  for (const resource of ["cpu", "memory"]) {
    const amount = (of: Amounts) => of.get(resource) ?? 0;
    if (amount(wanted) + amount(used) <= amount(total)) continue;
    return `Node didn't have enough resource: ${resource}, requested: ${amount(wanted)}, used: ${amount(used)}, capacity: ${amount(total)}`;
  }
  return undefined;
}

/** Whether a container is restarted to change the resources it has. */
export function restartsFor({ resizePolicy = [], resources }: Container, given: Container["resources"]): boolean {
  const amounts = (of: Container["resources"], name: string) => `${of?.requests?.[name]} ${of?.limits?.[name]}`;
  return resizePolicy.some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === "RestartContainer" && amounts(resources, resourceName) !== amounts(given, resourceName),
  );
}

type Resources = Container["resources"];

/** Milliseconds between the allocation of resources and their actuation in a container that keeps running. */
const ACTUATION = 1000;
const NEVER = Number.POSITIVE_INFINITY;

/**
 * In-place resize of a pod. Resources that the node has are allocated at once; they are actuated in the container a moment
 * later, or with its restart.
 */
export class PodResize {
  /** Why the resize is deferred. */
  problem: string | undefined;
  readonly #underWay = new Map<SimulatedContainer, { had: Resources; until: number; restarts: number | undefined }>();

  /** Whether allocated resources are not actuated yet. */
  get isInProgress(): boolean {
    return this.#underWay.size > 0;
  }

  /** The actuated resources of a container. */
  actual(container: SimulatedContainer): Resources {
    const underWay = this.#underWay.get(container);
    return underWay ? underWay.had : container.resources;
  }

  /** Allocates the requested resources to a container. */
  give(container: SimulatedContainer, now: number, isRestarted: boolean): void {
    if (container.state === "running") {
      const had = this.actual(container);
      const restarts = isRestarted ? container.restarts : undefined;
      this.#underWay.set(container, { had, until: now + ACTUATION, restarts });
    }
    container.resources = container.spec.resources;
  }

  /** Actuates what is due; returns when to check again. */
  settle(now: number): number {
    let next = NEVER;
    for (const [container, { until, restarts }] of this.#underWay) {
      const isRunning = container.state === "running";
      const isThere = restarts === undefined ? !isRunning || until <= now : isRunning && container.restarts > restarts;
      if (isThere) this.#underWay.delete(container);
      else if (restarts === undefined) next = Math.min(next, until);
    }
    return next;
  }

  /** The pod with its actuated resources, which may differ from the requested ones. */
  asGiven(pod: Pod, containers: readonly SimulatedContainer[]): Pod {
    if (this.problem === undefined && !this.isInProgress) return pod;
    const actual = new Map(containers.map((one) => [one.spec.name, this.actual(one)]));
    const as = (container: Container): Container => ({ ...container, resources: actual.get(container.name) ?? {} });
    return { ...pod, spec: { ...pod.spec!, containers: pod.spec!.containers.map(as) } };
  }
}
