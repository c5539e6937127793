import type { Contender } from "./contender.ts";
import { counterOf } from "./contender.ts";
import type { Ledger, Seen, StoredObject, Write } from "./ledger.ts";
import { seen } from "./ledger.ts";
import type { Segment, WatchEvent } from "./watcher.ts";

/** What is left when all is over, of each resource. */
export type FinalState = ReadonlyMap<string, readonly StoredObject[]>;

/** What a watcher has been told. */
export interface Told {
  readonly name: string;
  readonly resource: { readonly plural: string };
  readonly segments: readonly Segment[];
}

/** Something that must hold, and where it does not. */
export interface Check {
  readonly what: string;
  readonly problems: readonly string[];
}

/** Holds all that clients have been told against each other. */
export function verify(
  ledger: Ledger,
  watchers: readonly Told[],
  contenders: readonly Pick<Contender, "name" | "steps">[],
  final: FinalState,
): Check[] {
  const byValue = new Map(ledger.writes.flatMap((write) => (write.value ? [[write.value, write] as const] : [])));
  const segments = watchers.flatMap(({ name, resource, segments }) =>
    segments.map((segment, i) => ({ name: `${name}, part ${i}`, resource: resource.plural, segment })),
  );
  const each = (find: (one: (typeof segments)[number]) => string[]) =>
    segments.flatMap((one) => find(one).map((problem) => `${one.name}: ${problem}`));
  return [
    { what: "every answer was as it must be", problems: ledger.surprises },
    { what: "every acknowledged write is in the final state", problems: missingWrites(ledger, final) },
    { what: "every acknowledged step of a contested counter is kept", problems: missingSteps(contenders, final) },
    { what: "no two writes were given one version", problems: sharedVersions(ledger) },
    { what: "watches tell in order, and nothing twice", problems: each(({ segment }) => disorder(segment)) },
    {
      what: "watches tell of every acknowledged write",
      problems: each(({ resource, segment }) => lost(ledger, resource, segment)),
    },
    {
      what: "watches tell of nothing that did not happen",
      problems: each(({ segment }) => invented(byValue, ledger, segment)),
    },
    { what: "watches tell each object's story whole", problems: each(({ segment }) => brokenStories(segment)) },
    { what: "watches agree on when objects were deleted", problems: deletions(segments.map((one) => one.segment)) },
    {
      what: "lists are the state at their version",
      problems: each(({ resource, segment }) => wrongLists(ledger, resource, segment)),
    },
    { what: "what watches have told adds up to the final state", problems: wrongSums(watchers, final) },
  ];
}

function missingWrites(ledger: Ledger, final: FinalState): string[] {
  return [...ledger.owned].flatMap(([id, story]) => {
    const [resource = "", key = ""] = id.split(" ");
    const last = story.filter(({ outcome }) => outcome !== "refused").at(-1);
    if (!last) return [];
    const stored = (final.get(resource) ?? []).map(seen).find((one) => one.key === key);
    const before = story.filter(({ outcome }) => outcome === "acknowledged").at(-1);
    // A write in doubt has happened or not; nothing else may have.
    const possible = last.outcome === "acknowledged" ? [last] : [before, last];
    if (possible.some((write) => stored?.value === write?.value)) return [];
    const wanted = possible.map((write) => write?.value ?? "nothing").join(" or ");
    return [`${id} is ${stored?.value ?? "missing"} in place of ${wanted}`];
  });
}

function missingSteps(contenders: readonly Pick<Contender, "name" | "steps">[], final: FinalState): string[] {
  return contenders.flatMap(({ name, steps }) =>
    [...steps].flatMap(([id, { acknowledged, tried }]) => {
      const [resource = "", key = ""] = id.split(" ");
      const object = (final.get(resource) ?? []).find((one) => seen(one).key === key);
      const step = Number(object?.metadata.annotations?.[counterOf(name)] ?? 0);
      return step >= acknowledged && step <= tried
        ? []
        : [`${id}: ${name} is at step ${step}, not at ${acknowledged} to ${tried}`];
    }),
  );
}

function sharedVersions(ledger: Ledger): string[] {
  const owners = new Map<number, Write>();
  return ledger.writes.flatMap((write) => {
    if (write.revision === undefined) return [];
    const other = owners.get(write.revision);
    owners.set(write.revision, write);
    return other ? [`${other.value} and ${write.value} both have version ${write.revision}`] : [];
  });
}

function disorder({ from, events }: Segment): string[] {
  let last = from;
  return events.flatMap(({ type, key, revision }) => {
    const before = last;
    last = revision;
    return revision > before ? [] : [`${type} ${key} at ${revision} after ${before}`];
  });
}

function lost(ledger: Ledger, resource: string, { from, to, events }: Segment): string[] {
  const told = new Map(events.map((event) => [event.revision, event]));
  return ledger.writes.flatMap((write) => {
    const { revision, key, value } = write;
    if (write.resource !== resource || revision === undefined || revision <= from || revision > to) return [];
    const event = told.get(revision);
    return event?.key === key && event.value === value && event.type !== "DELETED"
      ? []
      : [`nothing of ${key} ${value} at ${revision}, between ${from} and ${to}`];
  });
}

function invented(byValue: ReadonlyMap<string, Write>, ledger: Ledger, { events }: Segment): string[] {
  return events.flatMap(({ type, key, revision, value }) => {
    const write = byValue.get(value);
    const story = write && ledger.owned.get(`${write.resource} ${key}`);
    const isDeleted = story?.some((one) => one.value === undefined && one.outcome !== "refused") ?? false;
    const isTrue =
      write?.key === key &&
      write.outcome !== "refused" &&
      (type === "DELETED" ? isDeleted : write.revision === undefined || write.revision === revision);
    return isTrue ? [] : [`${type} ${key} ${value} at ${revision}`];
  });
}

function brokenStories({ listed, events }: Segment): string[] {
  const present = new Map(listed.map(({ key, uid }) => [key, uid]));
  return events.flatMap(({ type, key, uid, revision }) => {
    const known = present.get(key);
    if (type === "DELETED") present.delete(key);
    else present.set(key, uid);
    const isWhole = type === "ADDED" ? known === undefined : known === uid;
    return isWhole ? [] : [`${type} ${key} at ${revision}, which was ${known ? `there as ${known}` : "not there"}`];
  });
}

function deletions(segments: readonly Segment[]): string[] {
  const when = new Map<string, WatchEvent>();
  return segments
    .flatMap(({ events }) => events.filter(({ type }) => type === "DELETED"))
    .flatMap((event) => {
      const other = when.get(event.uid);
      when.set(event.uid, event);
      return other && other.revision !== event.revision
        ? [`${event.key} (${event.uid}) was deleted at ${other.revision} and at ${event.revision}`]
        : [];
    });
}

/** What was acknowledged before a list, and not written again before it, must be in it as it was written. */
function wrongLists(ledger: Ledger, resource: string, { from, listed }: Segment): string[] {
  const items = new Map<string, Seen>(listed.map((one) => [one.key, one]));
  const late = listed.filter(({ revision }) => revision > from).map(({ key, revision }) => `${key} is of ${revision}`);
  const wrong = [...ledger.owned].flatMap(([id, story]) => {
    if (!id.startsWith(`${resource} `)) return [];
    const sure = story.filter(({ outcome }) => outcome !== "refused");
    const index = sure.findLastIndex(({ revision }) => revision !== undefined && revision <= from);
    const [write, next] = [sure[index], sure[index + 1]];
    if (!write || (next && next.revision === undefined)) return [];
    const item = items.get(write.key);
    return item?.revision === write.revision
      ? []
      : [`${write.key} at ${from} is ${item?.revision ?? "missing"} in place of ${write.revision}`];
  });
  return [...late, ...wrong];
}

function wrongSums(watchers: readonly Told[], final: FinalState): string[] {
  return watchers.flatMap(({ name, resource, segments }) => {
    const { listed = [], events = [] } = segments.at(-1) ?? {};
    const sum = new Map(listed.map(({ key, revision }) => [key, revision]));
    for (const { type, key, revision } of events) {
      if (type === "DELETED") sum.delete(key);
      else sum.set(key, revision);
    }
    const state = new Map((final.get(resource.plural) ?? []).map(seen).map(({ key, revision }) => [key, revision]));
    return [...new Set([...sum.keys(), ...state.keys()])].flatMap((key) =>
      sum.get(key) === state.get(key)
        ? []
        : [`${name}: ${key} is ${sum.get(key) ?? "absent"}, stored is ${state.get(key) ?? "nothing"}`],
    );
  });
}
