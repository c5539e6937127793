import type { AnyObject } from "@konverge/core";
import type { TestEnvironmentOptions } from "../../environment/embedded-test-backend.ts";

/**
 * A pass disturbs a scenario in a way of its own and has its own idea of what must be true afterwards: when the objects
 * are deleted, for instance, the end state is not that of the clean run.
 */
export interface PassResult {
  /** What was tried: writes, children and fields, CRDs, or rules. */
  readonly tried: number;
  readonly runs: number;
  /** Empty if the operator passed. */
  readonly problems: readonly string[];
}

/** Options of passes. */
export interface PassOptions {
  readonly environment?: TestEnvironmentOptions;
  readonly mask?: (object: AnyObject) => AnyObject;
  readonly every?: number;
  readonly kept?: (object: AnyObject) => boolean;
  readonly except?: (child: AnyObject, pointer?: string) => boolean;
}
