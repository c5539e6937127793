import { fileURLToPath } from "node:url";
import { type Clock, realClock } from "@konverge/core";
import type { Log } from "../log.ts";
import { currentReconcile, type ReconcileInProgress, reconcilesInProgress } from "../observe/reconciles-in-progress.ts";

/** Milliseconds between two looks at the event loop, and the delay that is reported. */
const PERIOD = 500;
const BLOCKED = 2_000;
/** How many reconciles are named. */
const NAMED = 3;

/**
 * Reports what no reconcile can report of itself, each in one line of the log:
 *
 * - a promise that no code awaits and that is rejected, with the reconcile that made it and the place in its source. The
 *   process goes on: the reconcile itself has ended, and only what the promise was for is in an unknown state;
 * - an event loop that was blocked, with the reconciles that were in progress.
 *
 * Returns a function that ends it.
 */
export function reportProcessProblems(log: Log, clock: Clock = realClock()): () => void {
  const onRejection = (reason: unknown) => reportRejection(reason, log);
  process.on("unhandledRejection", onRejection);
  let isEnded = false;
  const look = (expected: number) => {
    if (isEnded) return;
    const late = clock.monotonic() - expected;
    const reconciles = reconcilesInProgress.take();
    if (late >= BLOCKED) reportBlock(late, reconciles, log);
    const next = clock.monotonic() + PERIOD;
    clock.after(PERIOD, () => look(next), { label: "event loop", background: true });
  };
  look(clock.monotonic());
  return () => {
    isEnded = true;
    process.off("unhandledRejection", onRejection);
  };
}

function reportRejection(reason: unknown, fallback: Log): void {
  const reconcile = currentReconcile.getStore();
  const text = reason instanceof Error ? reason.message : String(reason);
  const at = reason instanceof Error ? placeOf(reason.stack ?? "") : undefined;
  const where = [
    ...(at === undefined ? [] : [`at ${at}`]),
    ...(reconcile ? [`in a reconcile of ${reconcile.kind} ${reconcile.key}`] : []),
  ].join(", ");
  const message = `a promise that no code awaits was rejected${where && `, ${where}`}: ${text}. Await it, or catch its error; the reconcile did not notice, and is not retried`;
  (reconcile?.log ?? fallback).error({ ...(reconcile && { object: reconcile.key }), ...(at && { at }) }, message);
}

function reportBlock(ms: number, reconciles: readonly ReconcileInProgress[], log: Log): void {
  const running = reconciles.map(({ kind, key }) => `${kind} ${key}`);
  const more = running.length > NAMED ? ` and ${running.length - NAMED} more` : "";
  const during = running.length > 0 ? `, in a reconcile of ${running.slice(0, NAMED).join(", ")}${more}` : "";
  const message = `the event loop was blocked for ${(ms / 1000).toFixed(1)} s${during}: nothing else ran, no lease was renewed and no probe answered. Move long computations to a worker thread, or await between their parts`;
  log.warn({ blockedMs: Math.round(ms), reconciles: running.slice(0, NAMED) }, message);
}

/** The first call in a stack that is not in a package: `src/widget.ts:12:3`. */
function placeOf(stack: string): string | undefined {
  const calls = [...stack.matchAll(/^ {4}at (?:.*\()?(file:.*?):(\d+:\d+)\)?$/gm)];
  const [, file, position] = calls.find(([, url]) => !url!.includes("/node_modules/")) ?? calls[0] ?? [];
  if (file === undefined) return undefined;
  const url = new URL(file);
  url.search = "";
  return `${fileURLToPath(url)}:${position}`;
}
