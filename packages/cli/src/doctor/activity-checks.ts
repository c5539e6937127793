import type { Client } from "@konverge/client";
import { type KindRef, type KubeObject, keyOf, sleep } from "@konverge/core";
import { differing } from "@konverge/runtime";
import type { ExaminedKind } from "./examined-objects.ts";
import { type Finding, nameOf } from "./finding.ts";

/** A field that changed this often, by more than one manager, is fought over. */
const FIGHT = 3;
/** Writes to one object in ten seconds that no working controller needs. */
const HOT = 20;

/** What writes to an object have done while it was watched. */
interface Activity {
  last: KubeObject;
  readonly name: string;
  writes: number;
  readonly managers: Set<string>;
  /** By JSON pointer: how often it changed, and by whom. */
  readonly fields: Map<string, { changes: number; managers: Set<string> }>;
}

/** Watches objects for a while: who writes them again and again, and who changes the fields of another. */
export async function activityFindings(
  client: Client,
  kinds: readonly ExaminedKind[],
  ms: number,
  isExamined: (object: KubeObject) => boolean,
): Promise<Finding[]> {
  const known = new Map<string, Activity>();
  const end = new AbortController();
  const watches = kinds.map(({ kind }) => follow(client, kind, known, end.signal));
  await sleep(client.clock, ms);
  end.abort();
  await Promise.all(watches);
  return [...known.values()].filter(({ last }) => isExamined(last)).flatMap((one) => judged(one, ms));
}

async function follow(client: Client, kind: KindRef<KubeObject>, known: Map<string, Activity>, signal: AbortSignal) {
  try {
    for await (const event of client.watch(kind, { signal })) {
      if (event.type === "ADDED" || event.type === "MODIFIED") {
        note(known, { ...event.object, kind: event.object.kind ?? kind.kind });
      }
    }
  } catch (error) {
    // Not permitted, or not served: there is nothing to see then.
    if (!signal.aborted && !(error instanceof Error)) throw error;
  }
}

/** Adds a version of an object to what is known of it. */
export function note(known: Map<string, Activity>, object: KubeObject): void {
  const uid = object.metadata.uid ?? keyOf(object);
  const before = known.get(uid);
  if (!before) {
    known.set(uid, { last: object, name: nameOf(object), writes: 0, managers: new Set(), fields: new Map() });
    return;
  }
  if (before.last.metadata.resourceVersion === object.metadata.resourceVersion) return;
  before.writes++;
  const writers = writersOf(before.last, object);
  for (const writer of writers) before.managers.add(writer);
  for (const { path } of differing(content(before.last), content(object))) {
    const field = before.fields.get(path) ?? { changes: 0, managers: new Set<string>() };
    field.changes++;
    for (const writer of writers) field.managers.add(writer);
    before.fields.set(path, field);
  }
  before.last = object;
}

/** Who wrote between two versions: the managers whose entries differ. One that lost a field wrote nothing. */
function writersOf(before: KubeObject, after: KubeObject): string[] {
  const entries = (object: KubeObject) =>
    new Map(
      (object.metadata.managedFields ?? []).map((entry) => [
        JSON.stringify([entry.manager, entry.operation, entry.subresource]),
        entry,
      ]),
    );
  const old = entries(before);
  const changed = [...entries(after)].filter(([key, entry]) => {
    const was = old.get(key);
    return was === undefined || was.time !== entry.time || sizeOf(entry) > sizeOf(was);
  });
  return [...new Set(changed.map(([, entry]) => entry.manager ?? "unknown"))];
}

const sizeOf = (entry: object) => JSON.stringify(entry).length;

function content({ metadata, ...rest }: KubeObject): object {
  const { managedFields: _, resourceVersion: __, generation: ___, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

/** What the activity of one object says. */
export function judged({ name, writes, managers, fields }: Activity, ms: number): Finding[] {
  const fights = [...fields].filter(([, { changes, managers: who }]) => changes >= FIGHT && who.size > 1);
  if (fights.length > 0) {
    return fights.map(([path, { changes, managers: who }]) => ({
      check: "conflicts" as const,
      object: name,
      problem: `${path} was changed ${changes} times in ${ms / 1000} s, by ${[...who].join(" and ")} in turn`,
      fix: `Let one of them own the field: remove it from what the other applies, or make the other stop. kubectl get --show-managed-fields shows who owns what.`,
    }));
  }
  if (writes < Math.max(3, (HOT * ms) / 10_000)) return [];
  const who = [...managers].join(", ") || "an unknown manager";
  const busiest = [...fields].sort(([, a], [, b]) => b.changes - a.changes)[0]?.[0] ?? "nothing but its version";
  return [
    {
      check: "hot-loops" as const,
      object: name,
      problem: `it was written ${writes} times in ${ms / 1000} s by ${who}; what changed was ${busiest}`,
      fix: "Write only what differs: a time or a counter in the status triggers the next reconcile. Compare before you write, or requeue after a while.",
    },
  ];
}
