import type { Copied } from "./copied-state.ts";
import type { CopiedValues } from "./host-values.ts";
import type { MemoryFiles } from "./memory-files.ts";

/** A process as it was when it first waited for a response, with nothing in it that belongs to that process. */
export interface GoSnapshot {
  readonly memory: Uint8Array;
  /** Its stack pointer and registers. */
  readonly globals: readonly (number | bigint)[];
  readonly values: CopiedValues;
  /** What it has put into its global object. */
  readonly added: ReadonlyMap<string, Copied>;
  /** What it had requested: nothing was sent yet. */
  readonly fetches: Copied;
  readonly files: MemoryFiles;
  /** How long it had run, in milliseconds. */
  readonly elapsed: number;
  readonly lastTimer: number;
  readonly timers: readonly { readonly id: number; readonly left: number }[];
}
