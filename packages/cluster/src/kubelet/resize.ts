import type { Container, Pod } from "@konverge/kinds";
import { type Amounts, addAmounts, amountsOf, requestsOf } from "../scheduler/requests.ts";

/** What a node has, and who else is on it with what has been given to them. */
export interface Room {
  readonly allocatable: Readonly<Record<string, string>>;
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
