import type { AnyObject } from "@konverge/core";
import type { TestEnvironmentOptions } from "../../environment/embedded-test-backend.ts";
import type { ExplorationPart } from "../part.ts";
import type { Timeline } from "../timeline.ts";

/** Something that a pass has found: what was done and what is wrong, and what happened meanwhile. */
export interface PassProblem {
  readonly message: string;
  readonly timeline: Timeline;
}

/**
 * A pass disturbs a scenario in its own way, and knows what must be true afterwards: when the objects
 * are deleted, for instance, the end state is not that of the clean run.
 */
export interface PassResult {
  /** What was tried: writes, children and fields, CRDs, rules, or changes of specs. */
  readonly tried: number;
  readonly runs: number;
  /** Empty if the operator passed. */
  readonly problems: readonly PassProblem[];
}

/** Options of passes. */
export interface PassOptions {
  readonly environment?: TestEnvironmentOptions;
  readonly seed?: number;
  readonly mask?: (object: AnyObject) => AnyObject | undefined;
  readonly every?: number;
  readonly part?: ExplorationPart;
  readonly runs?: number;
  readonly kept?: (object: AnyObject) => boolean;
  readonly except?: (child: AnyObject, pointer?: string) => boolean;
  /** For `rbac`: report what the role allows and no scenario needs. */
  readonly unusedPermissions?: boolean;
  /** Why the exploration has to end now, if it has to. */
  readonly reached?: () => string | undefined;
  /** Called with each problem as soon as it is found: a pass that is stopped returns nothing. */
  readonly onProblem?: (problem: PassProblem) => void;
}
