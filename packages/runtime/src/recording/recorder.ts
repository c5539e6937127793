import { closeSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import {
  type Clock,
  deepCopy,
  groupKindText,
  type KindRef,
  type KubeObject,
  type ObjectKey,
  parseApiVersion,
  realClock,
  stringifyJson,
} from "@konverge/core";
import type { ChildrenOutcome } from "../apply/outcome.ts";
import type { ChildrenReport } from "../definition/definition.ts";
import type {
  ApiCall,
  CacheQuery,
  ManagerState,
  NondeterministicInput,
  Observer,
  ReconcileEnd,
  ReconcileObserver,
  ReconcileOutput,
  ReconcileStart,
} from "../observe/observer.ts";
import { asJson, recordedOutcome, recordedResult } from "./recorded-result.ts";
import {
  HEADER,
  type RecordedError,
  type RecordedKind,
  type RecordedResult,
  type RecordedStep,
  recordedError,
} from "./recording.ts";
import { type RedactedFields, Redaction } from "./redaction.ts";

export interface ReconcileRecorderOptions {
  /** The file. Existing content is kept. */
  file: string;
  /** Fields to redact, besides the values of Secrets and fields whose schema has the format `password`. */
  redact?: readonly RedactedFields[];
  /** The size in bytes at which the file is renamed (suffix `.1`) and a new one is started. Default: 256 MiB. */
  limit?: number;
  /** Called when writing fails; nothing is recorded after that. */
  onError?: (error: Error) => void;
}

const DEFAULT_LIMIT = 256 * 2 ** 20;

/**
 * Writes every reconcile to a file: its triggers, everything that it read from the cache and from the server, what it
 * wrote and the responses, and the desired state. {@link replay} puts the same to a newer version of the code.
 *
 * Guarantees
 * - Each line is one complete reconcile: a file can be split, joined or searched by line.
 * - No value of a Secret or of a marked field is written, wherever it occurs; see {@link Redaction}.
 * - A line is written before later observers learn of the reconcile's end, and is with the operating system by then: a
 *   crash of the process loses only the reconciles in progress.
 */
export class ReconcileRecorder implements Observer, Disposable {
  readonly #options: ReconcileRecorderOptions;
  readonly #marked: ReadonlyMap<string, readonly string[]>;
  readonly #kinds = new Map<string, KindRef<KubeObject>>();
  #clock: Clock = realClock();
  #key: string | undefined;
  #file: number | undefined;
  #bytes = 0;

  constructor(options: ReconcileRecorderOptions | string) {
    this.#options = typeof options === "string" ? { file: options } : options;
    const redact = this.#options.redact ?? [];
    this.#marked = new Map(redact.map(({ kind, fields }) => [groupKindText(kind), fields]));
    this.#open();
  }

  managing({ clock }: ManagerState): void {
    this.#clock = clock;
  }

  reconciling(start: ReconcileStart): ReconcileObserver | undefined {
    if (this.#file === undefined) return undefined;
    this.#key ??= this.#clock.secrets.text(32);
    return new Line(start, this.#clock.now(), new Redaction(this.#key, this.#marked), this.#kinds, (text) =>
      this.#write(text),
    );
  }

  /** Stops recording. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #open(): void {
    const file = openSync(this.#options.file, "a", 0o600);
    this.#file = file;
    this.#bytes = fstatSync(file).size;
    if (this.#bytes === 0) this.#bytes += writeSync(file, `${JSON.stringify(HEADER)}\n`);
  }

  #write(text: string): void {
    if (this.#file === undefined) return;
    const { file, limit = DEFAULT_LIMIT, onError } = this.#options;
    try {
      if (this.#bytes >= limit) {
        this.close();
        renameSync(file, `${file}.1`);
        this.#open();
      }
      this.#bytes += writeSync(this.#file, `${text}\n`);
    } catch (error) {
      this.#file = undefined;
      onError?.(new Error(`${file} can no longer be written: ${(error as Error).message}`, { cause: error }));
    }
  }
}

/** A step to which there may be no answer yet. */
type OpenStep = RecordedStep & { answer?: unknown; error?: RecordedError };

/** One reconcile that is being recorded. */
class Line implements ReconcileObserver {
  readonly #start: ReconcileStart;
  readonly #at: number;
  readonly #redaction: Redaction;
  /** Kinds by name: drafts say only how theirs is called. */
  readonly #kinds: Map<string, KindRef<KubeObject>>;
  readonly #write: (text: string) => void;
  readonly #steps: OpenStep[] = [];
  #owner: KubeObject | undefined;

  constructor(
    start: ReconcileStart,
    at: number,
    redaction: Redaction,
    kinds: Map<string, KindRef<KubeObject>>,
    write: (text: string) => void,
  ) {
    this.#start = start;
    this.#at = at;
    this.#redaction = redaction;
    this.#kinds = kinds;
    this.#write = write;
  }

  objectRead(kind: KindRef<KubeObject>, key: ObjectKey, object: KubeObject | undefined): void {
    this.#steps.push({ step: "read", kind: this.#kind(kind), key, object: this.#object(kind, object) ?? null });
  }

  listed({ kind, ...query }: CacheQuery, objects: readonly KubeObject[]): void {
    this.#steps.push({
      step: "list",
      query: { ...query, kind: this.#kind(kind) },
      objects: objects.map((object) => this.#object(kind, object)),
    });
  }

  apiCall({ verb, kind, key, namespace, subresource, body }: ApiCall) {
    const step: OpenStep = {
      step: "call",
      call: {
        verb,
        kind: this.#kind(kind),
        ...(key !== undefined && { key }),
        ...(namespace !== undefined && { namespace }),
        ...(subresource !== undefined && { subresource }),
        ...(body !== undefined && { body: this.#object(kind, deepCopy(body)) }),
      },
    };
    this.#steps.push(step);
    return ({ object, error }: { object?: KubeObject; error?: unknown }) => {
      if (error !== undefined) step.error = recordedError(error);
      else if (object !== undefined) step.answer = this.#answer(kind, deepCopy(object));
    };
  }

  externalCall(name: string) {
    const step: OpenStep = { step: "external", name };
    this.#steps.push(step);
    return (answer: { value: unknown } | { error: unknown }) => {
      if ("error" in answer) step.error = recordedError(answer.error);
      else step.answer = answer.value === undefined ? null : deepCopy(answer.value);
    };
  }

  inputRead(what: NondeterministicInput, value: number | string): void {
    const shown = what === "secret" ? this.#redaction.value(String(value)) : value;
    this.#steps.push({ step: "input", what, value: shown });
  }

  eventRecorded(event: { type: string; reason: string; message: string }): void {
    this.#steps.push({ step: "event", ...event });
  }

  called(what: "reconcile" | "cleanup", object: KubeObject): void {
    this.#owner = object;
    this.#steps.push({ step: "called", what, object: this.#draft(object) });
  }

  returned(answer: ReconcileOutput): void {
    if (!this.#owner) return;
    const { children, ...result } = recordedResult(answer, this.#owner);
    const drafts = Object.entries(children ?? {}).map(([name, child]) => [
      name,
      { ...child, draft: this.#draft(child.draft as KubeObject) },
    ]);
    const shown: RecordedResult = { ...result, ...(children && { children: Object.fromEntries(drafts) }) };
    this.#steps.push({ step: "returned", result: shown });
  }

  reported(outcome: ChildrenOutcome, report: ChildrenReport): void {
    if (!this.#owner) return;
    const { created, deleted, refused } = recordedOutcome(outcome, this.#owner);
    const shown = {
      created: created.map((one) => this.#draft(one)),
      deleted: deleted.map((one) => this.#draft(one)),
      refused,
    };
    this.#steps.push({ step: "reported", outcome: shown, report: asJson(report as object) });
  }

  ended({ outcome, error, next }: ReconcileEnd): void {
    const { cluster, controller, key, triggers, failures } = this.#start;
    const end = {
      outcome,
      ...(error !== undefined && { error: recordedError(error) }),
      ...(next !== undefined && { next }),
    };
    const line = { cluster, controller, key, at: this.#at, triggers, failures, steps: this.#steps, end };
    try {
      this.#write(this.#redaction.text(line, (value) => stringifyJson(value)));
    } catch (cause) {
      // Something that JSON cannot hold was part of it: an answer from outside, say. The rest is worth keeping.
      const what = `this reconcile could not be recorded: ${(cause as Error).message}`;
      this.#write(stringifyJson({ ...line, steps: [], end: { outcome, error: { name: "Error", message: what } } }));
    }
  }

  #kind(kind: KindRef<KubeObject>): RecordedKind {
    const { group, version, kind: name, plural, namespaced } = kind;
    if (!this.#kinds.has(groupKindText(kind))) this.#kinds.set(groupKindText(kind), kind);
    return { group, version, kind: name, plural, namespaced };
  }

  #object<T>(kind: KindRef<KubeObject>, value: T): T {
    return this.#redaction.object(this.#kinds.get(groupKindText(kind)) ?? kind, value);
  }

  #answer(kind: KindRef<KubeObject>, value: KubeObject & { items?: KubeObject[] }): unknown {
    if (!Array.isArray(value.items)) return this.#object(kind, value);
    return { ...value, items: value.items.map((item) => this.#object(kind, item)) };
  }

  #draft(draft: KubeObject): KubeObject {
    const { group, version } = parseApiVersion(draft.apiVersion);
    const known = this.#kinds.get(groupKindText({ group, kind: draft.kind }));
    return this.#redaction.object(known ?? { group, version, kind: draft.kind }, draft);
  }
}
