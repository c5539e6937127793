import type { Client } from "@konverge/client";
import { type Clock, sleep } from "@konverge/core";
import type { History } from "./history.ts";
import type { ObjectSummary, ReconcileEntry, WriteRecord } from "./protocol.ts";

/** Milliseconds before the log of a container that ended is requested again. */
const RETRY = 2000;
/** Lines from before the console was started. */
const TAIL = 500;

/** A line of an operator's log; see `reconcileLog` in packages/runtime. */
interface LogLine {
  readonly time?: string;
  readonly level?: string | number;
  readonly msg?: string;
  readonly operator?: string;
  readonly controller?: string;
  readonly object?: string;
  readonly triggers?: readonly string[];
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly waitedMs?: number;
  readonly durationMs?: number;
  readonly outcome?: string;
  readonly failures?: number;
  readonly nextMs?: number;
  readonly err?: { readonly message?: string };
}

/** Reads what operators do off the logs of their pods, with the permissions that `kubectl logs` takes. */
export class OperatorLogs {
  readonly #client: Client;
  readonly #history: History;
  readonly #clock: Clock;
  readonly #followed = new Map<string, AbortController>();
  /** The newest line of each container, by pod: a log is read again from there. */
  readonly #newest = new Map<string, string>();
  /** Kinds by controller, as far as triggers or writes have named them. */
  readonly #kinds = new Map<string, string>();

  /** `clock` is for timers: that of the cluster may be faster. */
  constructor(client: Client, history: History, clock: Clock) {
    this.#client = client;
    this.#history = history;
    this.#clock = clock;
  }

  /** Follows the log of a pod if an operator runs in it. */
  observe(pod: ObjectSummary): void {
    if (!pod.pod || !pod.operator || this.#followed.has(pod.id) || pod.pod.phase === "Pending") return;
    const stop = new AbortController();
    this.#followed.set(pod.id, stop);
    void this.#follow(pod, stop.signal);
  }

  removed(id: string): void {
    this.#followed.get(id)?.abort();
    this.#followed.delete(id);
  }

  stop(): void {
    for (const id of [...this.#followed.keys()]) this.removed(id);
  }

  async #follow(pod: ObjectSummary, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const last = this.#newest.get(pod.id);
      const from = last ? { sinceTime: last } : { tailLines: TAIL };
      try {
        for await (const line of this.#client.logs(`${pod.namespace}/${pod.name}`, { follow: true, signal, ...from })) {
          this.#read(pod, line, last);
        }
      } catch {
        // No permission, no such container yet, or the pod was deleted: later, or never.
      }
      await sleep(this.#clock, RETRY, { signal, background: true }).catch(() => {});
    }
  }

  #read(pod: ObjectSummary, text: string, after: string | undefined): void {
    let line: LogLine;
    try {
      line = JSON.parse(text) as LogLine;
    } catch {
      return;
    }
    if (typeof line !== "object" || line === null || !line.time) return;
    // Since a second is the finest that a log can be requested from.
    if (after !== undefined && line.time <= after) return;
    this.#newest.set(pod.id, line.time);
    const at = Date.parse(line.time);
    const operator = line.operator ?? pod.operator ?? pod.name;
    if (line.controller && line.outcome && line.object) {
      this.#history.add(this.#reconcile(line, line.controller, line.object, operator, at));
    } else if (line.msg) {
      this.#history.add({
        type: "operator",
        at,
        operator,
        pod: pod.name,
        level: levelOf(line.level),
        message: line.err?.message && line.err.message !== line.msg ? `${line.msg}: ${line.err.message}` : line.msg,
      });
    }
  }

  #reconcile(line: LogLine, controller: string, key: string, operator: string, at: number): Omit<ReconcileEntry, "id"> {
    const { triggers = [], reads = [], writes = [], outcome = "", failures = 0, durationMs, waitedMs, nextMs } = line;
    const kind = this.#kindOf(controller, key, triggers, reads);
    const object = kind && this.#named(kind, key);
    return {
      type: "reconcile",
      at: at - (durationMs ?? 0),
      controller,
      operator,
      key,
      ...(kind && { kind }),
      ...(object && { object }),
      triggers,
      outcome,
      failures,
      ...(line.err?.message && { error: line.err.message }),
      ...(durationMs !== undefined && { duration: durationMs }),
      ...(waitedMs !== undefined && { waited: waitedMs }),
      ...(nextMs !== undefined && { next: nextMs }),
      reads: reads.map((text) => text.replace(/@/, " @ ")),
      writes: writes.map((text) => this.#write(text)),
      notes: [],
    };
  }

  #write(text: string): WriteRecord {
    const [, kind, key] = /^\w+ ([^\s/]+)(?:\/\w+)? (\S+)/.exec(text) ?? [];
    const object = kind && key && key !== "in" ? this.#named(kind, key) : undefined;
    return { text, ...(object && { object }), ...(text.endsWith(" failed") && { error: "failed" }) };
  }

  #kindOf(controller: string, key: string, triggers: readonly string[], reads: readonly string[]): string | undefined {
    const named =
      triggers.map((text) => /^object (\S+) (\S+)$/.exec(text)).find((match) => match?.[2] === key)?.[1] ??
      (this.#kinds.has(controller)
        ? undefined
        : reads.map((text) => /^(\S+) ([^@\s]+)@/.exec(text)).find((match) => match?.[2] === key)?.[1]);
    if (named) this.#kinds.set(controller, named);
    return named ?? this.#kinds.get(controller);
  }

  #named(kind: string, key: string): string | undefined {
    const at = key.indexOf("/");
    const namespace = at < 0 ? undefined : key.slice(0, at);
    return this.#history.find(kind, namespace, key.slice(at + 1))?.id;
  }
}

function levelOf(level: string | number | undefined): "info" | "warn" | "error" {
  if (level === "error" || level === "fatal" || (typeof level === "number" && level >= 50)) return "error";
  return level === "warn" || level === 40 ? "warn" : "info";
}
