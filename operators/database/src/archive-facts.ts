/** Consecutive WAL segments of a timeline, numbered through. */
export interface SegmentRun {
  readonly timeline: number;
  readonly first: number;
  readonly last: number;
  /** When the last of them was written, in milliseconds since 1970. */
  readonly time: number;
}

/** A base backup that exists. */
export interface BaseBackup {
  readonly name: string;
  /** Its end, in milliseconds since 1970: the earliest time that can be restored from it. */
  readonly stopped: number;
  /** The segment in which it ended. */
  readonly timeline: number;
  readonly segment: number;
}

/** What a primary reports about its archive, by `archive-facts.sh`. */
export interface ArchiveFacts {
  readonly segmentSize: number;
  /** The segment that is being written. */
  readonly timeline: number;
  readonly segment: number;
  /** Where earlier timelines were left, the first one first. */
  readonly history: readonly { readonly timeline: number; readonly segment: number }[];
  readonly archived: readonly SegmentRun[];
  readonly waiting: readonly SegmentRun[];
  readonly backups: readonly BaseBackup[];
}

/** Reads what `archive-facts.sh` printed; undefined if it printed nothing. */
export function parseArchiveFacts(facts: ReadonlyMap<string, string>): ArchiveFacts | undefined {
  const position = place(facts.get("position") ?? "");
  const segmentSize = Number(facts.get("segmentSize"));
  if (!position || !(segmentSize > 0)) return undefined;
  const list = (name: string) => (facts.get(name) ?? "").split(",").filter((text) => text !== "");
  return {
    segmentSize,
    ...position,
    history: list("history").flatMap((text) => place(text) ?? []),
    archived: list("archived").flatMap((text) => run(text) ?? []),
    waiting: list("waiting").flatMap((text) => run(text) ?? []),
    backups: list("backups").flatMap((text) => {
      const [name = "", time = "", end = ""] = text.split("@");
      const [at, stopped] = [place(end), Date.parse(time)];
      return at && !Number.isNaN(stopped) ? [{ name, stopped, ...at }] : [];
    }),
  };
}

function place(text: string): { timeline: number; segment: number } | undefined {
  const [, timeline, segment] = /^(\d+):(\d+)$/.exec(text) ?? [];
  return timeline && segment ? { timeline: Number(timeline), segment: Number(segment) } : undefined;
}

function run(text: string): SegmentRun | undefined {
  const [, timeline, first, last, time] = /^(\d+):(\d+)-(\d+)@(\d+)$/.exec(text) ?? [];
  if (!timeline) return undefined;
  return { timeline: Number(timeline), first: Number(first), last: Number(last), time: Number(time) * 1000 };
}

/** The name of a segment's file. */
export function segmentName({ segmentSize }: ArchiveFacts, timeline: number, segment: number): string {
  const each = 2 ** 32 / segmentSize;
  const hex = (number: number) => number.toString(16).toUpperCase().padStart(8, "0");
  return `${hex(timeline)}${hex(Math.floor(segment / each))}${hex(segment % each)}`;
}
