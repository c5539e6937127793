/**
 * The times that a database can be restored to: {@link recoveryWindow}, a pure function of what the archive has.
 *
 * A restore begins with a base backup and replays every segment from its end on, each from the timeline that the history
 * went through at that place. A segment that is neither archived nor about to be is a hole: what was committed from there on
 * can be restored only from a later backup.
 */
import { type ArchiveFacts, type BaseBackup, segmentName } from "./archive-facts.ts";

/** Times that cannot be restored. In milliseconds since 1970. */
export interface RecoveryGap {
  readonly from: number;
  /** When the next base backup ended; without one, nothing after `from` can be restored. */
  readonly to?: number;
  /** The first and the last segment that are missing. */
  readonly firstSegment: string;
  readonly lastSegment: string;
}

export interface RecoveryWindow {
  readonly first: number;
  readonly last: number;
  readonly gaps: readonly RecoveryGap[];
}

/** Segments in a row of one timeline. */
interface Span {
  readonly timeline: number;
  readonly first: number;
  readonly last: number;
}

/** The window; undefined without a base backup of this history. */
export function recoveryWindow(facts: ArchiveFacts): RecoveryWindow | undefined {
  const backups = facts.backups.filter((one) => isOfHistory(facts, one)).sort((a, b) => a.segment - b.segment);
  const [oldest] = backups;
  if (!oldest) return undefined;
  const holes = way(facts, oldest.segment).flatMap((span) => missing(facts, span));
  const gaps = joined(holes).map((hole): RecoveryGap => {
    const next = backups.find(({ segment }) => segment > hole.at(-1)!.last);
    return {
      from: timeBefore(facts, hole[0]!, backups),
      ...(next && { to: next.stopped }),
      firstSegment: segmentName(facts, hole[0]!.timeline, hole[0]!.first),
      lastSegment: segmentName(facts, hole.at(-1)!.timeline, hole.at(-1)!.last),
    };
  });
  const open = gaps.find(({ to }) => to === undefined);
  const [newest] = backups.slice(-1);
  const last = open?.from ?? Math.max(newest!.stopped, lastTime(facts));
  return { first: oldest.stopped, last, gaps };
}

/** Whether a backup belongs to the history, and not to a timeline that was left before its end. */
function isOfHistory({ timeline, history }: ArchiveFacts, backup: BaseBackup): boolean {
  const left = history.find((one) => one.timeline === backup.timeline);
  return left ? backup.segment <= left.segment : backup.timeline === timeline;
}

/** The segments that a restore from a place on replays: each of the timeline that went on from it. */
function way({ timeline, segment, history }: ArchiveFacts, from: number): Span[] {
  const begins = [0, ...history.map((left) => left.segment)];
  return [...history.map((left) => left.timeline), timeline]
    .map((of, index) => ({
      timeline: of,
      first: Math.max(from, begins[index]!),
      last: (begins[index + 1] ?? segment) - 1,
    }))
    .filter(({ first, last }) => first <= last);
}

/** What of a span is neither archived nor waits for it. */
function missing({ archived, waiting }: ArchiveFacts, span: Span): Span[] {
  const there = [...archived, ...waiting].filter(({ timeline }) => timeline === span.timeline);
  const holes: Span[] = [];
  let next = span.first;
  for (const { first, last } of there.sort((a, b) => a.first - b.first)) {
    if (first > next && next <= span.last) holes.push({ ...span, first: next, last: Math.min(first - 1, span.last) });
    next = Math.max(next, last + 1);
  }
  if (next <= span.last) holes.push({ ...span, first: next });
  return holes;
}

/** Holes that follow one another without a segment between them are one, across timelines. */
function joined(holes: readonly Span[]): Span[][] {
  const all: Span[][] = [];
  for (const hole of holes) {
    const before = all.at(-1);
    if (before?.at(-1)?.last === hole.first - 1) before?.push(hole);
    else all.push([hole]);
  }
  return all;
}

/** Until when can be restored before a hole: the end of the segment before it, or of the last backup. */
function timeBefore({ archived }: ArchiveFacts, hole: Span, backups: readonly BaseBackup[]): number {
  const before = archived.filter(({ last }) => last === hole.first - 1).map(({ time }) => time);
  const backup = backups.findLast(({ segment }) => segment <= hole.first)?.stopped ?? 0;
  return Math.max(backup, ...before);
}

function lastTime({ archived, timeline, history }: ArchiveFacts): number {
  const own = archived.filter((run) => {
    const left = history.find((one) => one.timeline === run.timeline);
    return left ? run.last < left.segment : run.timeline === timeline;
  });
  return Math.max(0, ...own.map(({ time }) => time));
}
