import { type Evidence, idOf } from "./evidence.ts";
import { describe, type Operation, type Result, type Version } from "./history.ts";

/** What the object is between two operations. */
interface State {
  /** Undefined: it does not exist. */
  readonly current: Stored | undefined;
  /** No later write may have a revision up to this one. */
  readonly floor: number;
}

/** A write that nothing observed has neither revision nor uid. */
interface Stored {
  readonly value: string;
  readonly revision: number | undefined;
  readonly uid: string | undefined;
}

/** Beyond this, a history is reported as undecided. */
const MOST_STEPS = 200_000;
/** With two unobserved writes in a row, an object reaches every state that more of them lead to: another one, or none. */
const LONGEST_CHAIN = 2;

/** Unobserved writes that are assumed to have happened in a row, and the state before them. */
interface Chain {
  readonly before: State;
  readonly length: number;
}

/**
 * Finds the objects whose operations have no order in which each takes effect once, between its call and its response, and
 * all results are those of a single copy. It is the search of Wing and Gong with Lowe's memory of positions, for each object
 * alone: linearizability is local. Revisions prune it: of two writes, the one with the lower revision comes first.
 *
 * A write with an unknown outcome may take effect at any time after its call, or never, unless something was observed that
 * it alone can have stored.
 */
export function notLinearizable(operations: readonly Operation[], evidence: Evidence): string[] {
  const byObject = Map.groupBy(operations.filter(isRelevant), idOf);
  return [...byObject].flatMap(([id, all]) => {
    const resolved = all.map((operation) => resolve(operation, evidence)).sort((a, b) => a.called - b.called);
    const problem = new Search(resolved, evidence).run();
    return problem === undefined ? [] : [`${id}: ${problem}`];
  });
}

/** Not reads that were not consistent, nor what neither had an effect nor says anything about the state. */
function isRelevant({ action, result }: Operation): boolean {
  if (action.verb === "get") return action.at === undefined && result.is !== "unknown" && result.is !== "refused";
  if (result.is === "refused") return false;
  // The server retries writes without a precondition, and answers with a conflict when others always come first.
  const isConditional = action.verb === "update" || action.verb === "delete";
  return result.is !== "conflict" || isConditional;
}

/** A lost response, restored where the write itself was observed. */
function resolve(operation: Operation, evidence: Evidence): Operation {
  const { action, result } = operation;
  if (result.is !== "unknown" || !("value" in action)) return operation;
  const version = evidence.byValue.get(action.value);
  return version && idOf(version) === idOf(operation) ? { ...operation, result: { is: "stored", version } } : operation;
}

class Search {
  readonly #operations: readonly Operation[];
  readonly #evidence: Evidence;
  readonly #done: boolean[];
  readonly #visited = new Set<string>();
  #missing: number;
  #steps = 0;
  #fewestMissing: number;
  #stuckAt: readonly Operation[] = [];

  constructor(operations: readonly Operation[], evidence: Evidence) {
    this.#operations = operations;
    this.#evidence = evidence;
    this.#done = operations.map(() => false);
    this.#missing = operations.filter(({ result }) => result.is !== "unknown").length;
    this.#fewestMissing = this.#missing + 1;
  }

  run(): string | undefined {
    if (this.#search({ current: undefined, floor: 0 }, 0)) return undefined;
    if (this.#steps > MOST_STEPS) return `undecided after ${MOST_STEPS} steps`;
    return ["no order of its operations explains all results; at the latest these cannot follow:"]
      .concat(this.#stuckAt.slice(0, 6).map(describe))
      .join("\n  ");
  }

  #search(state: State, first: number, chain?: Chain): boolean {
    while (first < this.#done.length && this.#done[first]) first++;
    if (this.#missing === 0) return true;
    if (++this.#steps > MOST_STEPS) return false;
    const place = this.#place(state, first, chain);
    if (this.#visited.has(place)) return false;
    this.#visited.add(place);
    const candidates = this.#candidates(first);
    if (this.#missing < this.#fewestMissing) {
      this.#fewestMissing = this.#missing;
      this.#stuckAt = candidates.map((index) => this.#operations[index]!);
    }
    const [known, unknown] = [
      candidates.filter((index) => this.#isKnown(index)),
      candidates.filter((index) => !this.#isKnown(index)),
    ];
    // What is also possible without the unobserved writes before it is tried without them: they can follow it, or be left out.
    const isPossible = (index: number, before: State) =>
      step(before, this.#operations[index]!, this.#evidence) !== undefined;
    const next = chain ? known.filter((index) => !isPossible(index, chain.before)) : known;
    if (next.some((index) => this.#try(index, state, first))) return true;
    if (known.every((index) => isPossible(index, chain?.before ?? state)) || chain?.length === LONGEST_CHAIN)
      return false;
    const longer = { before: chain?.before ?? state, length: (chain?.length ?? 0) + 1 };
    return unknown.some((index) => this.#try(index, state, first, longer));
  }

  #try(index: number, state: State, first: number, chain?: Chain): boolean {
    const next = step(state, this.#operations[index]!, this.#evidence);
    if (!next) return false;
    const count = this.#isKnown(index) ? 1 : 0;
    this.#done[index] = true;
    this.#missing -= count;
    if (this.#search(next, first, chain)) return true;
    this.#done[index] = false;
    this.#missing += count;
    return false;
  }

  #isKnown(index: number): boolean {
    return this.#operations[index]!.result.is !== "unknown";
  }

  /** Those that were called before any of the others has returned; what is known first, by revision. */
  #candidates(first: number): number[] {
    const candidates: number[] = [];
    let firstReturn = Number.POSITIVE_INFINITY;
    for (let index = first; index < this.#operations.length; index++) {
      const { called, returned } = this.#operations[index]!;
      if (called > firstReturn) break;
      if (this.#done[index]) continue;
      candidates.push(index);
      firstReturn = Math.min(firstReturn, returned);
    }
    const order = (index: number) => orderOf(this.#operations[index]!.result);
    return candidates.sort((a, b) => order(a) - order(b));
  }

  #place(state: State, first: number, chain: Chain | undefined): string {
    let rest = "";
    for (let index = first; index < this.#done.length; index++) if (this.#done[index]) rest += `,${index}`;
    const shown = ({ current, floor }: State) => `${floor} ${current?.value} ${current?.uid}`;
    return `${first}${rest}|${shown(state)}|${chain ? `${chain.length} ${shown(chain.before)}` : ""}`;
  }
}

/** Reads before writes, writes by revision, unknown outcomes last. */
function orderOf(result: Result): number {
  if (result.is === "unknown") return Number.POSITIVE_INFINITY;
  return result.is === "stored" ? result.version.revision : 0;
}

/** The state after an operation; undefined if it cannot have this result in this state. */
function step(state: State, operation: Operation, evidence: Evidence): State | undefined {
  const { current, floor } = state;
  const { action, result } = operation;
  switch (result.is) {
    case "found":
      return isVersion(current, result.version) ? state : undefined;
    case "absent":
      return current ? undefined : state;
    case "exists":
      return current ? state : undefined;
    case "conflict":
      return current && !meets(current, action, true) ? state : undefined;
    case "stored":
      return meets(current, action, false) && follows(state, result) ? storedState(result.version) : undefined;
    case "deleted":
      return current && meets(current, action, false) && (current.uid ?? result.uid) === result.uid
        ? { current: undefined, floor: evidence.deletions.get(result.uid) ?? floor }
        : undefined;
    case "unknown":
      return guess(state, operation, evidence);
    case "refused":
      return state;
  }
}

/** A write that may have happened, and of which nothing was observed. */
function guess({ current, floor }: State, { action }: Operation, evidence: Evidence): State | undefined {
  if (action.verb === "get" || !meets(current, action, false)) return undefined;
  if (action.verb === "delete") {
    const revision = current?.uid === undefined ? undefined : evidence.deletions.get(current.uid);
    return { current: undefined, floor: revision ?? floor };
  }
  return { current: { value: action.value, revision: undefined, uid: current?.uid }, floor };
}

/** Whether an operation takes effect in a state. `surely`: it does whatever is not known of what is stored. */
function meets(current: Stored | undefined, action: Operation["action"], surely: boolean): boolean {
  const isSame = <T>(known: T | undefined, expected: T | undefined) =>
    expected === undefined || (known === undefined ? !surely : known === expected);
  switch (action.verb) {
    case "get":
    case "apply":
      return true;
    case "create":
      return current === undefined;
    case "patch":
      return current !== undefined;
    case "update":
      // What nothing observed has a revision that no client can name.
      return current !== undefined && current.revision === action.revision;
    case "delete":
      if (current === undefined) return false;
      if (action.revision !== undefined && current.revision !== action.revision) return false;
      return isSame(current.uid, action.uid);
  }
}

function isVersion(current: Stored | undefined, { revision, uid, value }: Version): boolean {
  return current?.revision === revision && current.uid === uid && current.value === value;
}

/** A write has a higher revision than all before, keeps the uid of what exists, and says truly whether it created it. */
function follows({ current, floor }: State, { version, isNew }: Extract<Result, { is: "stored" }>): boolean {
  if (version.revision <= floor || (isNew !== undefined && isNew !== (current === undefined))) return false;
  return current?.uid === undefined || current.uid === version.uid;
}

function storedState({ value, revision, uid }: Version): State {
  return { current: { value, revision, uid }, floor: revision };
}
