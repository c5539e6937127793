import type { Access } from "./connection.ts";
import type { Retention } from "./history.ts";

/** A server under test, in processes that can be killed and stopped. */
export interface Target {
  readonly access: Omit<Access, "port">;
  readonly retention: Retention;
  /** Where it listens now. */
  readonly port: number;
  /** Its processes, to stop and continue. */
  pids(): readonly number[];
  /** Kills a process without warning, and resolves when the server serves again. */
  restart(): Promise<void>;
  /** Discards history; resolves with the revision up to which. */
  compact?: () => Promise<number>;
  /** Lets all writes to its files fail, or no longer. */
  fillDisk?: (isFull: boolean) => void;
  /** What it logged that it should not have. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}
