import type { Cluster } from "@konverge/cluster";

/** What an operator has done, from its log. */
export interface Activity {
  readonly operator: string;
  /** How many reconciles there were, where that is known. */
  readonly reconciles?: number;
  readonly writes: number;
  /** The last thing that is worth telling. */
  readonly last: string;
}

interface Line {
  readonly msg?: string;
  readonly object?: string;
  readonly outcome?: string;
  readonly writes?: readonly string[];
  readonly err?: { message?: string };
}

/** Reads what operators do off the logs of their pods, as `kubectl logs` would show it. */
export class OperatorActivities {
  readonly #cluster: Cluster;
  readonly #known = new Map<string, { writes: number; last: string }>();
  readonly #positions = new WeakMap<object, number>();

  constructor(cluster: Cluster, operators: readonly { name: string }[]) {
    this.#cluster = cluster;
    for (const { name } of operators) this.#known.set(name, { writes: 0, last: "starting" });
  }

  /** What is known now; `tell` hears of each write, once. */
  refresh(tell: (operator: string, text: string) => void): Activity[] {
    for (const { pod, containers } of this.#cluster.kubelet.workers()) {
      const name = pod.metadata.labels?.["app"] ?? "";
      const known = this.#known.get(name);
      const log = containers[0]?.log;
      if (!known || !log) continue;
      for (const { text } of log.from(this.#positions.get(log) ?? 0)) {
        this.#read(known, text, (line) => tell(name, line));
      }
      this.#positions.set(log, log.end);
    }
    return [...this.#known].map(([operator, activity]) => ({ operator, ...activity }));
  }

  #read(known: { writes: number; last: string }, text: string, tell: (line: string) => void) {
    let line: Line;
    try {
      line = JSON.parse(text) as Line;
    } catch {
      known.last = text;
      return tell(text);
    }
    const { msg = "", writes = [], outcome, object } = line;
    known.writes += writes.length;
    const problem = line.err?.message;
    for (const one of writes) tell(one);
    if (problem) tell(`${msg}: ${problem}`);
    if (problem) known.last = `${object ?? ""} ${msg}: ${problem}`.trim();
    else if (writes.length > 0) known.last = writes.at(-1)!;
    else if (!outcome) {
      known.last = msg;
      tell(msg);
    }
  }
}
