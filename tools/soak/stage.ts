import type { Clock } from "@konverge/core";
import type { Access } from "./connection.ts";
import type { Ledger } from "./ledger.ts";

/** What clients of the soak share. */
export interface Stage {
  readonly clock: Clock;
  readonly access: Access;
  readonly ledger: Ledger;
  /** Resolves when the server runs: at once, or when it has been started again. */
  up(): Promise<void>;
  /** No more is to be written. */
  readonly over: boolean;
}
