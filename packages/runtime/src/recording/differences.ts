import { deepEqual } from "@konverge/core";
import { differing, type JsonDifference } from "../json-diff.ts";
import type { RecordedWrite } from "./recorded-world.ts";
import type { RecordedReconcile, RecordedResult } from "./recording.ts";

/** Everything that a reconcile intended to do. */
export interface ReconcileIntent {
  readonly result: RecordedResult;
  /** Its own writes, through `client`. */
  readonly writes: readonly RecordedWrite[];
  readonly events: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
}

/** A difference in what a reconcile does. */
export interface ReplayDifference {
  /** `child Deployment.apps default/web`, `status`, `condition Ready`, `write patch Pod default/a`, `event`, `error` … */
  readonly what: string;
  /** `added`: only the new code does it. */
  readonly change: "added" | "removed" | "changed";
  /** The paths that differ, as JSON pointers; undefined if a value does not exist. */
  readonly details: readonly JsonDifference[];
}

/** How the intent of the new code differs from that of the recorded code. */
export function differencesOf(before: ReconcileIntent, after: ReconcileIntent): ReplayDifference[] {
  const [was, is] = [before.result, after.result];
  const writes = pairs(before.writes, after.writes, ({ what }) => what);
  return [
    ...compared("error", shown(was.error), shown(is.error)),
    ...childrenDiffer(was.children, is.children),
    ...eachCompared("controller ", was.controllers ?? {}, is.controllers ?? {}),
    ...compared("status", was.status, is.status),
    ...eachCompared("condition ", was.conditions ?? {}, is.conditions ?? {}),
    ...writes.flatMap(([what, was, is]) => compared(`write ${what}`, was?.map(bodyOf), is?.map(bodyOf))),
    ...compared("requeueAfter", was.requeueAfter, is.requeueAfter),
    ...compared("cleanup is waiting for", was.waitingFor, is.waitingFor),
    ...compared("events", listed(before.events), listed(after.events)),
  ];
}

/** A difference as text: one line, and its details. */
export function replayDifferenceText({ what, change, details }: ReplayDifference): string {
  const sign = { added: "+", removed: "-", changed: "~" }[change];
  const lines = details.map(({ path, before, after }) => {
    const where =
      path === "" ? "" : `${path.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~")}: `;
    return `    ${where}${valueText(before)} → ${valueText(after)}`;
  });
  return [`  ${sign} ${what}`, ...lines].join("\n");
}

/** `widgets.example.com default/w at 2026-01-01T00:00:00.000Z (object Widget default/w)`. */
export function recordedReconcileText({ controller, key, at, triggers }: RecordedReconcile): string {
  const why = triggers.map(({ type, kind, key: of }) => [type, kind, of].filter(Boolean).join(" ")).join(", ");
  return `${controller} ${key} at ${new Date(at).toISOString()} (${why})`;
}

function childrenDiffer(before: RecordedResult["children"], after: RecordedResult["children"]): ReplayDifference[] {
  // Returning no list is not the same as returning an empty one.
  if (!before !== !after) {
    const details = [{ path: "", before: Object.keys(before ?? {}), after: Object.keys(after ?? {}) }];
    return [
      {
        what: before ? "children are no longer returned" : "children are now returned",
        change: "changed",
        details,
      },
    ];
  }
  return eachCompared("child ", before ?? {}, after ?? {});
}

function eachCompared(
  prefix: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): ReplayDifference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => compared(`${prefix}${name}`, before[name], after[name]));
}

function compared(what: string, before: unknown, after: unknown): ReplayDifference[] {
  if (deepEqual(before, after)) return [];
  const change = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  const details = change === "changed" ? differing(before, after) : [{ path: "", before, after }];
  return [{ what, change, details }];
}

/** Items of two lists by name, with all of the same name together. */
function pairs<T>(before: readonly T[], after: readonly T[], nameOf: (item: T) => string): [string, T[]?, T[]?][] {
  const names = new Set([...before, ...after].map(nameOf));
  const of = (list: readonly T[], name: string) => {
    const found = list.filter((item) => nameOf(item) === name);
    return found.length > 0 ? found : undefined;
  };
  return [...names].map((name) => [name, of(before, name), of(after, name)]);
}

const bodyOf = ({ body }: RecordedWrite) => body ?? null;
const listed = (events: ReconcileIntent["events"]) => (events.length > 0 ? events : undefined);
/** Other fields of an error add nothing to its message. */
const shown = (error: RecordedResult["error"]) => error && { name: error.name, message: error.message };

function valueText(value: unknown): string {
  return value === undefined ? "(absent)" : JSON.stringify(value);
}
