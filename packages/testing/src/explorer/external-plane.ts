import { type Clock, sleep } from "@konverge/core";
import type {
  ExternalCall,
  ExternalCaller,
  ExternalResourceState,
  ExternalSystems,
} from "../external/external-system.ts";
import { EXTERNAL_DELAY, type ExternalFault } from "./external-fault.ts";
import { type Fault, type FaultPoint, faultText, isSamePoint } from "./fault.ts";
import type { ObjectChange, TimelineEntry } from "./timeline.ts";

/** What is known of the external systems at the end of a run. */
export interface ExternalState {
  readonly resources: readonly ExternalResourceState[];
  /** Resources whose object is gone, as sentences. */
  readonly leaked: readonly string[];
  /** Calls that changed something for an object that was gone, as sentences. */
  readonly late: readonly string[];
}

/** The run that external calls are part of. */
export interface ExternalRun {
  readonly clock: Clock;
  readonly changes: readonly ObjectChange[];
  readonly injected: Fault[];
  note(entry: Pick<TimelineEntry, "who" | "type" | "what"> & Partial<TimelineEntry>): void;
  /** Identifies the present state of the test namespace and of the external systems. */
  state(): string;
}

/**
 * Stands between an operator and its external systems: records its calls, lets each fault happen at its call, and knows for which
 * object each resource was made.
 */
export class ExternalPlane {
  readonly #run: ExternalRun;
  readonly #systems: () => ExternalSystems;
  readonly #pending: ExternalFault[];
  readonly #counts = new Map<string, number>();
  readonly #makers = new Map<string, NonNullable<ExternalCall["by"]>>();
  readonly #late = new Set<string>();

  constructor(run: ExternalRun, systems: () => ExternalSystems, faults: readonly Fault[]) {
    this.#run = run;
    this.#systems = systems;
    this.#pending = faults.filter((fault): fault is ExternalFault => fault.type === "external call");
  }

  /** Identifies the present state of the external systems. */
  state(): string {
    return this.#systems()
      .resources()
      .map(({ system, id, text }) => `${system} ${withoutIdentities(id)} ${text}`)
      .sort()
      .join("\n");
  }

  atEnd(): ExternalState {
    const resources = this.#systems().resources();
    const leaked = resources.flatMap(({ system, id, isExpected }) => {
      const maker = this.#makers.get(`${system} ${id}`);
      if (isExpected || !maker || !this.#isGone(maker)) return [];
      return [`${system}: ${withoutIdentities(id)} is left behind by ${maker.kind} ${maker.key}`];
    });
    return { resources, leaked, late: [...this.#late] };
  }

  call(call: ExternalCall, send: () => unknown, process: ExternalCaller): unknown {
    const { what } = call;
    const nth = (this.#counts.get(what) ?? 0) + 1;
    this.#counts.set(what, nth);
    const point: FaultPoint = { on: "external", what, nth };
    const fault = this.#pending.find(({ at }) => isSamePoint(at, point));
    const state = this.#run.state();
    const record = (result: string) =>
      this.#run.note({ who: "operator", type: "external", what, result, point, state, process: process.number });
    if (!fault) {
      const answer = this.#changing(call, send);
      return answer instanceof Promise ? this.#recorded(answer, record) : answer;
    }
    this.#pending.splice(this.#pending.indexOf(fault), 1);
    this.#run.injected.push(fault);
    this.#run.note({ who: "explorer", type: "fault", what: faultText(fault), fault });
    return this.#failing(fault, call, send, record, process);
  }

  async #failing(
    { outcome }: ExternalFault,
    call: ExternalCall,
    send: () => unknown,
    record: (result: string) => void,
    process: ExternalCaller,
  ): Promise<unknown> {
    switch (outcome) {
      case "error":
        record("connection refused");
        throw failure("connect ECONNREFUSED", "ECONNREFUSED");
      case "timeout":
        record("no answer");
        await sleep(this.#run.clock, EXTERNAL_DELAY, { ...signalIn(call.args) });
        throw failure("connect ETIMEDOUT", "ETIMEDOUT");
      case "slow": {
        const answer = await this.#recorded(this.#changing(call, send), record);
        await sleep(this.#run.clock, EXTERNAL_DELAY, { ...signalIn(call.args) });
        return answer;
      }
      case "lost answer":
        await this.#recorded(this.#changing(call, send), (result) => record(`${result}, answer lost`));
        throw failure("read ECONNRESET", "ECONNRESET");
      case "crash before":
        record("not sent");
        return this.#die(process);
      case "crash after":
        await this.#recorded(this.#changing(call, send), record);
        return this.#die(process);
    }
  }

  #die(process: ExternalCaller): Promise<never> {
    this.#run.note({ who: "operator", type: "process", what: "killed", process: process.number });
    process.crash();
    return new Promise(() => {});
  }

  async #recorded(answer: unknown, record: (result: string) => void): Promise<unknown> {
    try {
      const value = await answer;
      record("ok");
      return value;
    } catch (error) {
      record(`failed: ${error instanceof Error ? error.message : error}`);
      throw error;
    }
  }

  /** Makes the call, and notes what it changes. */
  #changing(call: ExternalCall, send: () => unknown): unknown {
    const before = this.#texts();
    const isGone = call.by !== undefined && this.#isGone(call.by);
    const compare = () => this.#compare(before, call, isGone);
    const answer = send();
    if (!(answer instanceof Promise)) {
      compare();
      return answer;
    }
    return answer.finally(compare);
  }

  #texts(): Map<string, string> {
    return new Map(
      this.#systems()
        .resources()
        .map(({ system, id, text }) => [`${system} ${id}`, text]),
    );
  }

  #compare(before: ReadonlyMap<string, string>, { by, what }: ExternalCall, isGone: boolean): void {
    if (!by) return;
    for (const [resource, text] of this.#texts()) {
      if (before.get(resource) === text) continue;
      if (!before.has(resource)) this.#makers.set(resource, by);
      if (isGone) this.#late.add(`${what} changed something for ${by.kind} ${by.key}, which was gone`);
    }
  }

  /** Whether an object of the test namespace has been deleted. What has never been there is not known. */
  #isGone({ kind, key }: NonNullable<ExternalCall["by"]>): boolean {
    const last = this.#run.changes.findLast(({ object, namespace, name }) => {
      return object.kind === kind && (key === name || key === `${namespace}/${name}`);
    });
    return last?.type === "deleted";
  }
}

/** The same text in two runs, in which objects have different UIDs. */
export function withoutIdentities(text: string): string {
  return text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "*");
}

function failure(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}

/** A call that was given a signal ends with it, as one over a network would. */
function signalIn(args: readonly unknown[]): { signal?: AbortSignal } {
  for (const arg of args) {
    if (arg instanceof AbortSignal) return { signal: arg };
    const { signal } = (typeof arg === "object" && arg !== null ? arg : {}) as { signal?: unknown };
    if (signal instanceof AbortSignal) return { signal };
  }
  return {};
}
