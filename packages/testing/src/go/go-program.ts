import type { Permission } from "@konverge/runtime";
import type { AnyKind } from "@konverge/schema";
import type { LaunchedProcess, LaunchOptions, RunnableOperator } from "../environment/runnable-operator.ts";
import type { GoProgramOptions } from "./go-program-options.ts";
import type { GoSnapshot } from "./go-snapshot.ts";
import { LaunchedGoProcess } from "./launched-go-process.ts";

const EVERYTHING: readonly Permission[] = [{ verb: "*", group: "*", resource: "*" }];
/** Snapshots that are kept at a time. Each process of a run has another; few runs have more than two. */
const MOST_SNAPSHOTS = 3;

/**
 * An operator in Go, compiled to WebAssembly, as one more process of an embedded cluster, on its virtual clock.
 *
 * A process starts as one before it with the same seed and the same number did, so only the first of them runs through its start;
 * the others continue from its snapshot.
 */
export class GoProgram implements RunnableOperator {
  readonly name: string;
  readonly kinds: readonly AnyKind[];
  readonly hasOwnReadiness = true;
  readonly #options: GoProgramOptions;
  /** By the names of processes; undefined if one cannot be copied. */
  readonly #snapshots = new Map<string, GoSnapshot | undefined>();

  constructor(options: GoProgramOptions) {
    this.#options = options;
    this.name = options.name;
    this.kinds = options.kinds ?? [];
  }

  settings(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return { ...this.#options.env, ...given };
  }

  permissions(): readonly Permission[] {
    return this.#options.permissions ?? EVERYTHING;
  }

  launch(options: LaunchOptions): LaunchedProcess {
    const key = `${options.seed} ${options.replica} ${options.number} ${options.home}`;
    return new LaunchedGoProcess(this.#options, options, {
      known: this.#snapshots.get(key),
      // A snapshot is as large as the memory of the program.
      wanted: !this.#snapshots.has(key) && this.#snapshots.size < MOST_SNAPSHOTS,
      keep: (snapshot) => void this.#snapshots.set(key, snapshot),
    });
  }
}
