import type { CallOptions } from "@konverge/client";
import type { ApiCall } from "../observe/observer.ts";

/** A call, and what was asked of it. */
export interface LayeredCall extends ApiCall {
  readonly options: CallOptions & { dryRun?: boolean; preconditions?: { uid?: string } };
}
