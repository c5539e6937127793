import type { KindRef, KubeObject } from "@konverge/core";
import type { Log } from "../log.ts";
import type { ApiCall, Observer, ReconcileEnd, ReconcileObserver, ReconcileStart } from "../observe/observer.ts";

/** More reads than these are only counted. */
const NAMED_READS = 20;

/**
 * Writes one line for each reconcile: its triggers, the versions it read, what it wrote, its duration and result, and
 * the time of the next one. Lines contain names of objects, not their contents, so no secret gets into a log.
 *
 * Levels: `error` for failures that are retried, `warn` for those that need a change by the user, `info` for a
 * reconcile that wrote something, `debug` for one that wrote nothing.
 */
export function reconcileLog(log: Log): Observer {
  return { reconciling: (start) => new ReconcileLine(log, start) };
}

class ReconcileLine implements ReconcileObserver {
  readonly #log: Log;
  readonly #start: ReconcileStart;
  readonly #reads = new Map<string, string>();
  readonly #writes: string[] = [];
  #calls = 0;

  constructor(log: Log, start: ReconcileStart) {
    this.#log = log;
    this.#start = start;
  }

  objectRead(kind: KindRef<KubeObject>, key: string, object: KubeObject | undefined): void {
    this.#reads.set(`${kind.kind} ${key}`, object?.metadata.resourceVersion ?? "absent");
  }

  apiCall(call: ApiCall) {
    this.#calls++;
    const told = callText(call);
    return ({ error, object }: { error?: unknown; object?: KubeObject }) => {
      if (call.verb === "get" && call.key) this.objectRead(call.kind, call.key, object);
      else if (call.verb !== "list") this.#writes.push(error === undefined ? told : `${told} failed`);
    };
  }

  ended(end: ReconcileEnd): void {
    const { cluster, controller, key, triggers, waited, failures } = this.#start;
    const reads = [...this.#reads].slice(0, NAMED_READS).map(([name, version]) => `${name}@${version}`);
    const fields = {
      cluster,
      controller,
      object: key,
      triggers: triggers.map(({ type, kind, key: of }) => [type, kind, of].filter(Boolean).join(" ")),
      reads,
      ...(this.#reads.size > NAMED_READS && { moreReads: this.#reads.size - NAMED_READS }),
      writes: this.#writes,
      requests: this.#calls,
      waitedMs: Math.round(waited),
      durationMs: Math.round(end.duration),
      outcome: end.outcome,
      ...(failures > 0 && { failures }),
      ...(end.next !== undefined && { nextMs: Math.round(end.next) }),
      ...(end.error !== undefined && end.outcome !== "stopped" && { err: end.error }),
    };
    this.#log[levelOf(end, this.#writes.length)](fields, messageOf(end));
  }
}

function callText({ verb, kind, key, namespace, subresource }: ApiCall): string {
  const what = subresource ? `${kind.kind}/${subresource}` : kind.kind;
  return `${verb} ${what} ${key ?? (namespace ? `in ${namespace}` : "")}`.trimEnd();
}

function levelOf({ outcome }: ReconcileEnd, writes: number): "debug" | "info" | "warn" | "error" {
  if (outcome === "transient") return "error";
  if (outcome === "permanent" || outcome === "external") return "warn";
  return outcome === "conflict" || outcome === "stopped" || writes === 0 ? "debug" : "info";
}

function messageOf({ outcome, error }: ReconcileEnd): string {
  if (error === undefined || outcome === "stopped") return `reconcile ${outcome}`;
  return error instanceof Error ? error.message : String(error);
}
