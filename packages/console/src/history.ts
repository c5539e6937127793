import type { KubeObject } from "@konverge/core";
import { objectDiff } from "./object-diff.ts";
import type { Entry, ObjectName, ObjectSummary } from "./protocol.ts";
import { type NamedKind, nameOf, summaryOf } from "./summary.ts";

/** More fields than these of one change are only counted. */
const SHOWN_FIELDS = 40;

/** Limits of what is kept, in entries of the timeline and in characters of older versions of objects. */
export interface HistoryLimits {
  readonly entries: number;
  readonly characters: number;
}

/** A version of an object: its JSON, or undefined once it was deleted. */
interface Version {
  readonly at: number;
  readonly json: string | undefined;
  readonly summary?: ObjectSummary;
}

interface Known {
  readonly kind: NamedKind;
  readonly name: ObjectName;
  /** The oldest first. The last one is the present. */
  readonly versions: Version[];
}

export type NewEntry = Entry extends infer E ? (E extends Entry ? Omit<E, "id"> : never) : never;

/** Called with new entries, to send them to pages. */
export interface HistoryListener {
  changed(summary: ObjectSummary): void;
  removed(id: string): void;
  added(entry: Entry): void;
}

/**
 * What happened, and how each object looked at any time: the one model behind a live cluster and a recording.
 *
 * Guarantees: at most `limits.entries` entries, and older versions of at most `limits.characters` characters, are kept: the
 * oldest go first. The present version of every object stays.
 */
export class History {
  readonly #limits: HistoryLimits;
  readonly #objects = new Map<string, Known>();
  readonly #names = new Map<string, ObjectName>();
  readonly #entries: Entry[] = [];
  /** Objects in the order in which their versions were replaced, each with its oldest version. */
  readonly #replaced: Known[] = [];
  #firstReplaced = 0;
  #characters = 0;
  #nextId = 1;
  listener: HistoryListener | undefined;

  constructor(limits: HistoryLimits) {
    this.#limits = limits;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  add(entry: NewEntry): Entry {
    const full = { ...entry, id: this.#nextId++ } as Entry;
    this.#entries.push(full);
    // In blocks: removing from the front of a long list is not free.
    if (this.#entries.length > this.#limits.entries * 1.1)
      this.#entries.splice(0, this.#entries.length - this.#limits.entries);
    this.listener?.added(full);
    return full;
  }

  /** Notes a version of an object. Without `quiet` an entry says what changed. Returns the diff. */
  observe(kind: NamedKind, object: KubeObject, at: number, options: { quiet?: boolean } = {}) {
    const name = nameOf(kind, object);
    const known = this.#objects.get(name.id);
    const { managedFields, ...metadata } = object.metadata;
    const shown = redacted(kind, { ...object, metadata });
    const json = JSON.stringify(shown);
    const last = known?.versions.at(-1);
    const summary = summaryOf(kind, object, at);
    if (last?.json === json) return [];
    const before = last?.json === undefined ? undefined : (JSON.parse(last.json) as unknown);
    const diff = before === undefined ? [] : objectDiff(before, shown);
    this.#append(known ?? this.#know(kind, name), { at, json, summary });
    this.listener?.changed(summary);
    if (!options.quiet && (before === undefined || diff.length > 0)) {
      const by = writerOf(managedFields, diff);
      this.add({
        type: "change",
        at,
        object: name,
        change: before === undefined ? "created" : "changed",
        ...(by && { by }),
        diff: diff.slice(0, SHOWN_FIELDS),
        ...(diff.length > SHOWN_FIELDS && { more: diff.length - SHOWN_FIELDS }),
      });
    }
    return diff;
  }

  /** Records the deletion of an object. */
  forget(id: string, at: number, options: { quiet?: boolean } = {}): void {
    const known = this.#objects.get(id);
    if (!known || known.versions.at(-1)?.json === undefined) return;
    this.#append(known, { at, json: undefined });
    this.listener?.removed(id);
    if (!options.quiet) this.add({ type: "change", at, object: known.name, change: "deleted", diff: [] });
  }

  /** The ids of the objects of a kind that exist now. */
  idsOf({ group, kind }: { group: string; kind: string }): string[] {
    return [...this.#objects]
      .filter(([, known]) => known.kind.group === group && known.kind.kind === kind && isThere(known))
      .map(([id]) => id);
  }

  /** The object that was last known by that name. Logs name kinds without their groups. */
  find(kind: string, namespace: string | undefined, name: string): ObjectName | undefined {
    return this.#names.get(`${kind} ${namespace ?? ""}/${name}`);
  }

  /** All objects as they were at a time, or are. */
  summaries(at = Number.POSITIVE_INFINITY): ObjectSummary[] {
    return [...this.#objects.values()].flatMap((known) => {
      const summary = versionAt(known, at)?.summary;
      return summary ? [summary] : [];
    });
  }

  /** An object as it was at a time; undefined if it was not there, or that is no longer known. */
  object(id: string, at = Number.POSITIVE_INFINITY): KubeObject | undefined {
    const known = this.#objects.get(id);
    const version = known && versionAt(known, at);
    return version?.json === undefined ? undefined : (JSON.parse(version.json) as KubeObject);
  }

  #know(kind: NamedKind, name: ObjectName): Known {
    const known = { kind, name, versions: [] };
    this.#objects.set(name.id, known);
    this.#names.set(`${name.kind} ${name.namespace ?? ""}/${name.name}`, name);
    return known;
  }

  #drop(name: ObjectName): void {
    this.#objects.delete(name.id);
    const key = `${name.kind} ${name.namespace ?? ""}/${name.name}`;
    if (this.#names.get(key)?.id === name.id) this.#names.delete(key);
  }

  #append(known: Known, version: Version): void {
    known.versions.push(version);
    this.#characters += version.json?.length ?? 0;
    this.#replaced.push(known);
    while (this.#characters > this.#limits.characters && this.#firstReplaced < this.#replaced.length) {
      const oldest = this.#replaced[this.#firstReplaced++]!;
      if (oldest.versions.length > 1) this.#characters -= oldest.versions.shift()?.json?.length ?? 0;
      if (oldest.versions.length === 1 && !isThere(oldest)) this.#drop(oldest.name);
    }
    if (this.#firstReplaced < 10_000) return;
    this.#replaced.splice(0, this.#firstReplaced);
    this.#firstReplaced = 0;
  }
}

const isThere = ({ versions }: Known) => versions.at(-1)?.json !== undefined;

function versionAt({ versions }: Known, at: number): Version | undefined {
  let [low, high] = [0, versions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (versions[middle]!.at <= at) low = middle + 1;
    else high = middle;
  }
  return versions[low - 1];
}

/** Values of Secrets never leave the server with the history; the page can request them from the API server. */
function redacted(kind: NamedKind, object: KubeObject): KubeObject {
  if (kind.group !== "" || kind.kind !== "Secret") return object;
  const { data, ...rest } = object as KubeObject & { data?: Record<string, string> };
  const { annotations } = object.metadata;
  const shown = Object.fromEntries(Object.keys(data ?? {}).map((key) => [key, "(hidden)"]));
  const { "kubectl.kubernetes.io/last-applied-configuration": _, ...others } = annotations ?? {};
  return { ...rest, ...(data && { data: shown }), metadata: { ...object.metadata, annotations: others } } as KubeObject;
}

/** The field manager behind a change: of those that wrote last, the one that owns the changed part. */
function writerOf(managers: KubeObject["metadata"]["managedFields"], diff: readonly { path: string }[]) {
  if (!managers?.length) return undefined;
  const newest = managers.reduce((latest, { time = "" }) => (time > latest ? time : latest), "");
  const candidates = managers.filter(({ time = "" }) => time === newest);
  const inStatus = diff.length > 0 && diff.every(({ path }) => path.startsWith("status"));
  return (candidates.find(({ subresource }) => (subresource === "status") === inStatus) ?? candidates[0])?.manager;
}
