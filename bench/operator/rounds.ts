import { CONTESTANTS, type Contestant } from "./contestants.ts";
import type { Program } from "./konverge-program.ts";
import type { Notes } from "./measure.ts";

/** The operators of one run, what was measured of them, and why some were not. */
export class Rounds {
  readonly count: number;
  readonly samples = new Map<string, Map<string, number[]>>();
  /** Operators without figures, or without some of them, with the reason. */
  readonly missing = new Map<string, string>();
  /** Whether an operator could be built and then failed. */
  failed = false;
  readonly #programs = new Map<Contestant, Program>();
  readonly #requests = new Map<string, readonly [phase: string, operator: string, text: string]>();

  constructor(count: number) {
    this.count = count;
  }

  /** Builds the operators of these names, in the order of the table. */
  async build(names: readonly string[]): Promise<void> {
    for (const contestant of CONTESTANTS.filter(({ name }) => names.includes(name))) {
      try {
        this.add(contestant, await contestant.program());
      } catch (error) {
        this.#leaveOut(contestant, "skipped", error);
      }
    }
  }

  add(contestant: Contestant, program: Program): void {
    this.#programs.set(contestant, program);
    this.samples.set(contestant.name, new Map());
  }

  /** Requests by phase and operator, as in the last round. */
  get requests(): (readonly [phase: string, operator: string, text: string])[] {
    return [...this.#requests.values()].sort(([, a], [, b]) => this.#column(a) - this.#column(b));
  }

  /**
   * Measures each operator once in each round; each round begins with another one. An operator that fails has no figures of these
   * rounds, and keeps those of others.
   */
  async measure(
    takesPart: (contestant: Contestant) => boolean,
    measure: (program: Program, notes: Notes) => Promise<void>,
  ): Promise<void> {
    const measured = new Map([...this.#programs.keys()].filter(takesPart).map((one) => [one, new Set<string>()]));
    for (let round = 0; round < this.count; round++) {
      const order = [...this.#programs].filter(([contestant]) => measured.has(contestant));
      const first = order.length === 0 ? 0 : round % order.length;
      for (const [contestant, program] of [...order.slice(first), ...order.slice(0, first)]) {
        try {
          await measure(program, this.#notes(contestant.name, round, measured.get(contestant)!));
        } catch (error) {
          this.failed = true;
          for (const what of measured.get(contestant)!) this.samples.get(contestant.name)!.delete(what);
          measured.delete(contestant);
          this.#leaveOut(contestant, "failed", error);
        }
      }
    }
  }

  #notes(name: string, round: number, measured: Set<string>): Notes {
    return {
      figure: (what, value) => {
        const figures = this.samples.get(name)!;
        measured.add(what);
        figures.set(what, [...(figures.get(what) ?? []), value]);
        console.log(`${name}, round ${round + 1}: ${what} ${value.toFixed(2)}`);
      },
      requests: (phase, text) => {
        this.#requests.set(`${phase} ${name}`, [phase, name, text]);
        console.log(`${name}, round ${round + 1}: ${phase}: ${text}`);
      },
    };
  }

  #leaveOut(contestant: Contestant, how: "skipped" | "failed", error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    console.error(`${contestant.name}: ${how}: ${why}`);
    this.missing.set(contestant.name, `${how}: ${why}`);
  }

  #column(name: string): number {
    return CONTESTANTS.findIndex((contestant) => contestant.name === name);
  }
}
