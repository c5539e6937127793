/**
 * What becomes of volumes that an earlier Database of the same name left: {@link adoptionStep}.
 *
 * They hold data, and the term that their servers last obeyed: a server obeys no older one. While it is unknown what they
 * hold, no server may start, and no empty volume may become a new database. When all servers have reported, the one that led
 * last leads again, in a new term; without one, the user names the pod whose data count, in the annotation {@link ADOPT}.
 */
import type { PersistentVolumeClaim } from "konverge/kinds";
import type { Database } from "./database.ts";
import type { Member, Situation, Step } from "./leadership.ts";
import { claimName } from "./names.ts";
import { isReplica } from "./replica-source.ts";
import { lsnText, type ServerReport } from "./server-report.ts";
import { firstTopology, type Topology } from "./topology.ts";

/** On a Database: the pod whose data to continue with when its volumes do not show which server led last. */
export const ADOPT = "databases.example.com/adopt";

const SOON = 2_000;

/** The number of servers that the volumes which exist are of. */
export function countOfVolumes(database: Database, claims: readonly PersistentVolumeClaim[]): number {
  const prefix = claimName(database, 0).slice(0, -1);
  const numbers = claims
    .filter(({ metadata }) => metadata.namespace === database.metadata.namespace && metadata.name.startsWith(prefix))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name.slice(prefix.length))
    .filter((number) => /^\d+$/.test(number));
  return Math.max(0, ...numbers.map((number) => Number(number) + 1));
}

/** The next step while volumes are adopted. */
export function adoptionStep(database: Database, { topology, members }: Pick<Situation, "topology" | "members">): Step {
  // A server that is ready before any may start does not follow the topology: it is not waited for.
  const silent = members.filter(({ pod, report }) => !report && !pod?.ready).map(({ name }) => name);
  if (silent.length > 0) {
    const message =
      `volumes of this name exist already, and ${silent.join(", ")} did not report yet what is on theirs: if a pod cannot ` +
      "start because its volume is lost, delete its claim and the pod";
    return { topology, problem: { reason: "AdoptingVolumes", message }, after: SOON };
  }
  const term = Math.max(0, ...members.map(({ report }) => report?.volumeTerm ?? 0));
  const holders = members.filter(({ report }) => report?.data !== undefined);
  if (holders.length === 0) return { topology: { ...firstTopology(database), term: term + 1 }, after: SOON };
  const last = holders.filter(({ report }) => report?.data === "primary" && (report.volumeTerm ?? 0) === term);
  const named = holders.find(({ name }) => name === database.metadata.annotations?.[ADOPT]);
  // Copies of another Database are all standbys: the one that has the most goes on as such.
  const copies = isReplica(database)
    ? holders.toSorted((a, b) => Number((b.report?.lsn ?? 0n) - (a.report?.lsn ?? 0n)))
    : [];
  const chosen = named ?? (last.length === 1 ? last[0] : copies[0]);
  if (!chosen) {
    const found = holders.map(({ name, report }) => `${name} has ${describe(report!)}`).join("; ");
    const message =
      `the volumes do not show which server led last: ${found}. Set the annotation ${ADOPT} to the pod whose data to continue ` +
      "with: the others become copies of it";
    return { topology, problem: { reason: "NoVolumeLeads", message }, after: SOON };
  }
  return {
    topology: { term: term + 1, primary: chosen.name, upstream: chosen.name, fresh: false },
    event: {
      type: "normal",
      reason: "VolumesAdopted",
      message: `${chosen.name} leads on with the data on its volume: ${describe(chosen.report!)}`,
    },
    after: SOON,
  };
}

function describe({ data, volumeTerm = 0, timeline, lsn }: ServerReport): string {
  const place = lsn === undefined ? "" : ` up to ${lsnText(lsn)}`;
  return `data of a ${data} of term ${volumeTerm}${timeline === undefined ? "" : `, timeline ${timeline}`}${place}`;
}

/** Whether a database that has never run has volumes that an earlier one has left. */
export function findsEarlierVolumes({ fresh, term }: Topology, members: readonly Member[]): boolean {
  return fresh && members.some(({ report }) => (report?.volumeTerm ?? 0) > term);
}
