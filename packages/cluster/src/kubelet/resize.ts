import type { QuantityValue } from "@konverge/core";
import type { Container, Pod } from "@konverge/kinds";
import { type Amounts, addAmounts, amountsOf, requestsOf } from "../scheduler/requests.ts";
import type { SimulatedContainer } from "./container.ts";

/** What a node has, and who else is on it with what has been given to them. */
export interface Room {
  readonly allocatable: Readonly<Record<string, QuantityValue>>;
  readonly others: Iterable<Pod>;
}

/** Why a node cannot give a pod what it now asks for; undefined when it can. */
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

/** Whether a container is restarted for other amounts than it has. */
export function restartsFor({ resizePolicy = [], resources }: Container, given: Container["resources"]): boolean {
  const amounts = (of: Container["resources"], name: string) => `${of?.requests?.[name]} ${of?.limits?.[name]}`;
  return resizePolicy.some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === "RestartContainer" && amounts(resources, resourceName) !== amounts(given, resourceName),
  );
}

type Resources = Container["resources"];

/** Milliseconds after which a container that keeps running has what it was given. */
const ACTUATION = 1000;
const NEVER = Number.POSITIVE_INFINITY;

/**
 * The changes of what a pod's containers have while they run. What a node can give is allocated at once; a container has it
 * a moment later, or when it has been restarted for it.
 */
export class PodResize {
  /** Why the pod has not been given what it asks for. */
  problem: string | undefined;
  readonly #underWay = new Map<SimulatedContainer, { had: Resources; until: number; restarts: number | undefined }>();

  /** Whether a container does not have yet what it was given. */
  get isInProgress(): boolean {
    return this.#underWay.size > 0;
  }

  /** What a container has at this moment. */
  actual(container: SimulatedContainer): Resources {
    const underWay = this.#underWay.get(container);
    return underWay ? underWay.had : container.resources;
  }

  /** Gives a container what it asks for. */
  give(container: SimulatedContainer, now: number, isRestarted: boolean): void {
    if (container.state === "running") {
      const had = this.actual(container);
      const restarts = isRestarted ? container.restarts : undefined;
      this.#underWay.set(container, { had, until: now + ACTUATION, restarts });
    }
    container.resources = container.spec.resources;
  }

  /** Takes note of containers that now have what they were given; says when to look again. */
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

  /** A pod as its containers have it, which is not always what it asks for. */
  asGiven(pod: Pod, containers: readonly SimulatedContainer[]): Pod {
    if (this.problem === undefined && !this.isInProgress) return pod;
    const actual = new Map(containers.map((one) => [one.spec.name, this.actual(one)]));
    const as = (container: Container): Container => ({ ...container, resources: actual.get(container.name) ?? {} });
    return { ...pod, spec: { ...pod.spec!, containers: pod.spec!.containers.map(as) } };
  }
}
