import type { Client } from "@konverge/client";
import { type Clock, groupKindText, type KubeObject, type ObjectKey } from "@konverge/core";
import type { LayeredCall } from "../calls/layered-call.ts";
import { differing, type JsonDifference } from "../json-diff.ts";
import type { ReconcileTrigger } from "../observe/observer.ts";

/** Milliseconds in which reconciles are counted. */
const WINDOW = 10_000;
/** So many reconciles of one object within the window are looked at, and so many are a loop. */
const EXAMINED = 40;
const HOT = 50;
/** So many of those that were examined must have the same cause. */
const SAME = 8;
/** Milliseconds between two reconciles of an object in a loop. */
const DAMPED = 1000;
/** With fewer reconciles in a window, the loop has ended: while it lasts, there is one each second. */
const COOL = 3;
/** How often another writer's value is looked for, which may just have been overwritten. */
const LOOKS = 3;

/** A loop that was found, for the log, an event and the metrics. */
export interface HotLoop {
  readonly key: ObjectKey;
  readonly message: string;
}

interface Examined {
  own: number;
  repairs: number;
  /** The last write to each target. */
  readonly bodies: Map<string, LayeredCall>;
  changed?: { readonly target: string; readonly difference: JsonDifference; readonly isStatus: boolean };
  repaired?: LayeredCall;
}

/** A loop that still lasts. */
interface Lasting {
  /** The write that another writer undoes, until it is known who. */
  undone?: LayeredCall;
  looks: number;
}

export interface HotLoopsOptions {
  readonly clock: Clock;
  /** The field manager. */
  readonly controller: string;
  /** The kind of the objects that are reconciled. */
  readonly kind: { readonly group: string; readonly kind: string };
  readonly onLoop: (loop: HotLoop) => void;
  readonly onEnd: (key: ObjectKey) => void;
}

/**
 * Finds objects that are reconciled again and again for no reason from outside: because each reconcile writes something that
 * causes the next, itself or by what a child's controller reports on it, because it asks for the next at once, or because another
 * writer undoes each write. Such a loop is reported once, with the field that changes, and slowed down to one reconcile a second,
 * not stopped.
 *
 * What a user or another controller changes, and what follows from it, is no loop, however often it happens.
 *
 * It costs a number for each object whose reconcile has written something within the window, and nothing for any other.
 */
export class HotLoops {
  readonly #options: HotLoopsOptions;
  readonly #counts = new Map<ObjectKey, number>();
  readonly #examined = new Map<ObjectKey, Examined>();
  readonly #lasting = new Map<ObjectKey, Lasting>();
  #since = Number.NEGATIVE_INFINITY;

  constructor(options: HotLoopsOptions) {
    this.#options = options;
  }

  /** Milliseconds by which the next reconcile of an object is put off. */
  delay(key: ObjectKey): number {
    return this.#lasting.size > 0 && this.#lasting.has(key) ? DAMPED : 0;
  }

  /** A reconcile has ended, with these writes. */
  reconciled(key: ObjectKey, triggers: readonly ReconcileTrigger[], writes: readonly LayeredCall[]): void {
    const own = triggers.every(({ type, own }) => own === true || type === "after");
    if (writes.length === 0 && !own) return;
    this.#roll();
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    if (count < EXAMINED || this.#lasting.has(key)) return;
    const examined = this.#examine(key, own, triggers, writes);
    if (count >= HOT) this.#judge(key, examined);
  }

  /** Before a reconcile: looks who undoes what the last ones wrote, if that is not known yet. */
  async explain(key: ObjectKey, client: Client): Promise<void> {
    const lasting = this.#lasting.get(key);
    if (!lasting?.undone) return;
    const { undone } = lasting;
    const live = await client.get(undone.kind, undone.key!).catch(() => undefined);
    const [difference] = live ? differing(written(undone), live).filter(isContent) : [];
    if (!difference && ++lasting.looks < LOOKS) return;
    delete lasting.undone;
    this.#report(key, foughtText(targetOf(undone), difference, this.#managerOf(live, undone)));
  }

  #examine(
    key: ObjectKey,
    own: boolean,
    triggers: readonly ReconcileTrigger[],
    writes: readonly LayeredCall[],
  ): Examined {
    let examined = this.#examined.get(key);
    if (!examined) {
      examined = { own: 0, repairs: 0, bodies: new Map() };
      this.#examined.set(key, examined);
    }
    const isAnswer = own || isAnswered(triggers, examined.bodies.values());
    let isCause = own;
    let isRepair = false;
    for (const call of writes) {
      const target = targetOf(call);
      const before = examined.bodies.get(target);
      examined.bodies.set(target, call);
      if (!before) continue;
      const [difference] = differing(written(before), written(call)).filter(isContent);
      if (difference) {
        const isStatus = call.subresource !== undefined;
        // A status may only repeat what has changed in a child.
        if (!isStatus || examined.changed?.isStatus !== false) examined.changed = { target, difference, isStatus };
        isCause ||= isAnswer && !isStatus;
      } else if (call.key !== undefined) {
        examined.repaired = call;
        isRepair = true;
      }
    }
    if (isCause) examined.own++;
    if (isRepair) examined.repairs++;
    return examined;
  }

  #judge(key: ObjectKey, { own, repairs, changed, repaired }: Examined): void {
    this.#examined.delete(key);
    const isFought = repairs >= SAME && repaired !== undefined;
    if (!isFought && own < SAME) return;
    this.#lasting.set(key, { looks: 0, ...(isFought && { undone: repaired }) });
    if (!isFought) this.#report(key, changed ? changedText(changed) : IDLE);
  }

  #report(key: ObjectKey, why: string): void {
    const what = `${groupKindText(this.#options.kind)} ${key}`;
    const rate = `${HOT} times in ${WINDOW / 1000} s`;
    const message = `${what} was reconciled ${rate} for no reason from outside: ${why}. It is slowed down to one reconcile a second`;
    this.#options.onLoop({ key, message });
  }

  /** Begins a new window. */
  #roll(): void {
    const now = this.#options.clock.monotonic();
    if (now - this.#since < WINDOW) return;
    for (const key of this.#lasting.keys()) {
      if ((this.#counts.get(key) ?? 0) >= COOL) continue;
      this.#lasting.delete(key);
      this.#options.onEnd(key);
    }
    this.#since = now;
    this.#counts.clear();
    this.#examined.clear();
  }

  /** Whoever wrote last, besides this controller. */
  #managerOf(live: KubeObject | undefined, { subresource }: LayeredCall): string | undefined {
    const others = (live?.metadata.managedFields ?? []).filter(
      (entry) => entry.manager !== this.#options.controller && entry.subresource === subresource,
    );
    return others.toSorted((a, b) => String(b.time).localeCompare(String(a.time)))[0]?.manager;
  }
}

const IDLE =
  "it wrote nothing, and asked for the next reconcile at once. Return a longer requeueAfter, or watch what it waits for";

function changedText({ target, difference: { path, before, after } }: NonNullable<Examined["changed"]>): string {
  return (
    `each reconcile writes ${target} and thereby causes the next, with ${path} first ${textOf(before)}, then ${textOf(after)}. ` +
    "Compute it from the object and from what is observed alone, without the time, a counter or a random value"
  );
}

function foughtText(target: string, difference: JsonDifference | undefined, manager: string | undefined): string {
  const which = difference
    ? `${difference.path} is set to ${textOf(difference.before)} here, and to ${textOf(difference.after)} elsewhere`
    : "each write is undone elsewhere";
  const who =
    manager === undefined
      ? "by a process with the same field manager: probably the operator runs twice. Use leader election, or stop one of them"
      : `by the field manager ${manager}: probably two operators reconcile this kind. Stop one of them, or do not set the field`;
  return `${target} is written again and again: ${which}, ${who}`;
}

/** Whether a reconcile has no cause but what became of its children when it had written them: their controllers report on each write. */
function isAnswered(triggers: readonly ReconcileTrigger[], writes: Iterable<LayeredCall>): boolean {
  const written = new Set([...writes].map(({ kind, key }) => `${kind.kind} ${key}`));
  return triggers.every(
    ({ type, own, kind, key }) => own || type === "after" || (type === "child" && written.has(`${kind} ${key}`)),
  );
}

/** What a write sets, however it does it. */
function written({ body }: LayeredCall): unknown {
  const patch = body as { merge?: unknown; json?: unknown; strategic?: unknown } | undefined;
  return patch?.merge ?? patch?.strategic ?? patch?.json ?? body;
}

/** Values that the write does not set, and what identifies an object, do not count. */
const isContent = ({ path, before }: JsonDifference) =>
  before !== undefined &&
  !/^\/(apiVersion|kind|metadata\/(uid|resourceVersion|name|namespace|ownerReferences))\b/.test(path);

const targetOf = ({ kind, key, namespace, subresource }: LayeredCall) =>
  `${groupKindText(kind)}${subresource ? `/${subresource}` : ""} ${key ?? namespace ?? ""}`.trimEnd();

function textOf(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
