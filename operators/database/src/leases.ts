/**
 * The leases of primaries, as this process knows them: {@link Leases}.
 *
 * A primary with standbys fences itself when it has had no contact with the operator or a standby for a while
 * (`scripts/server-lease.sh`). The operator extends its lease with each query, by returning the token of an earlier report. It
 * stops doing so when it decides that another server should lead. Once no standby receives from the old primary any more,
 * nothing extends the lease: it expires.
 *
 * Guarantees
 * - {@link Leases.forsakenFor} counts only time that this process has measured on its monotonic clock. It starts again with
 *   the next process; no clock of another machine, and no wall-clock time, is compared.
 * - A lease is extended in one term, for the server that leads in it.
 *
 * Assumptions
 * - One process at a time is the operator, as leader election provides.
 * - The clock of the old primary's node runs: a virtual machine that was suspended continues for up to the same time.
 */
import type { Member } from "./leadership.ts";
import type { Topology } from "./topology.ts";

/** Milliseconds between two queries of servers whose primary needs a lease: an answer that does not come takes ten seconds. */
export const LEASE_ROUND = 15_000;

interface Known {
  /** The last token of each server, by the name of its pod. */
  readonly tokens: Map<string, { readonly uid: string; readonly token: string }>;
  forsaken?: { readonly term: number; readonly since: number };
}

/** The leases of all databases. */
export class Leases {
  readonly #known = new Map<string, Known>();

  /** What a query says to a server: the extension of its lease, if it is the one that leads. */
  grant(database: string, { name, pod }: Pick<Member, "name" | "pod">, topology: Topology): string | undefined {
    const { tokens, forsaken } = this.#of(database);
    const known = tokens.get(name);
    if (!known || known.uid !== pod?.uid || topology.operation || topology.primary !== name) return undefined;
    return forsaken && forsaken.term >= topology.term ? undefined : `${topology.term}.${known.token}`;
  }

  /** Remembers what a server has reported. */
  heard(database: string, { name, pod, report }: Member): void {
    if (pod && report?.token !== undefined) this.#of(database).tokens.set(name, { uid: pod.uid, token: report.token });
  }

  /** Milliseconds for which nothing has extended the lease of the server that led, given whether nothing can now. */
  forsakenFor(database: string, { term }: Topology, isForsaken: boolean, monotonic: number): number | undefined {
    const known = this.#of(database);
    if (known.forsaken?.term !== term) {
      if (!isForsaken) return undefined;
      // This holds for the rest of the term: no standby receives from the old primary again in it.
      known.forsaken = { term, since: monotonic };
    }
    return monotonic - known.forsaken.since;
  }

  forget(database: string): void {
    this.#known.delete(database);
  }

  #of(database: string): Known {
    const known = this.#known.get(database) ?? { tokens: new Map() };
    this.#known.set(database, known);
    return known;
  }
}

/** The container that has given the token of a grant. */
export function lifeOf(grant: string | undefined): string | undefined {
  return grant?.split(".")[1];
}
