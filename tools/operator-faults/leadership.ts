import type { FailingNetwork, Write } from "./failing-network.ts";

interface Carried extends Write {
  readonly by: number;
}

const isLease = ({ request }: Write) => request.includes("/leases");
/** Who does not lead may say so. */
const isEvent = ({ request }: Write) => request.includes("/events");

/** The number of the replica that holds the lease now, as the API server has it. */
export function leaderOf(networks: readonly FailingNetwork[]): number | undefined {
  return inOrder(networks).filter(isLease).at(-1)?.by;
}

/** How often the lease went to another replica, and what was written by one that did not hold it. */
export function judgeLeadership(networks: readonly FailingNetwork[]): { handovers: number; usurped: string[] } {
  let [leader, handovers]: [number | undefined, number] = [undefined, 0];
  const usurped: string[] = [];
  for (const write of inOrder(networks)) {
    if (isEvent(write)) continue;
    if (!isLease(write)) {
      if (write.by !== leader) usurped.push(`replica ${write.by}, at revision ${write.revision}: ${write.request}`);
    } else if (write.holder && leader !== write.by) {
      if (leader !== undefined) handovers++;
      leader = write.by;
    }
  }
  return { handovers, usurped };
}

/** The writes of all replicas, in the order in which etcd has them. */
function inOrder(networks: readonly FailingNetwork[]): Carried[] {
  return networks
    .flatMap(({ writes }, by) => writes.map((write) => ({ ...write, by })))
    .sort((a, b) => a.revision - b.revision);
}
