import type { AnyObject } from "@konverge/core";
import type { EndState } from "./end-state.ts";
import type { ExternalState } from "./external-plane.ts";
import type { Fault } from "./fault.ts";
import type { ObjectChange, Timeline } from "./timeline.ts";

/** How the operator behaved while there was nothing to do. */
export interface IdleActivity {
  /** How long that was, in milliseconds of the cluster's time. */
  readonly ms: number;
  readonly writes: number;
  readonly requests: number;
  readonly warnings: readonly string[];
}

/** Everything that is known of one run of a scenario, however its operator was run. */
export interface ExploredRun {
  readonly seed: number;
  /** The faults that were injected; a fault whose point did not occur is not among them. */
  readonly faults: readonly Fault[];
  readonly timeline: Timeline;
  /** All changes of objects in the test namespace, in order. */
  readonly changes: readonly ObjectChange[];
  /** The objects at the end, as two runs share them if they end alike; undefined if the run did not get so far. */
  readonly endState: EndState | undefined;
  /** The objects at the end as they are, secrets included: for oracles, never for reports. */
  readonly objects: readonly AnyObject[];
  readonly idle: IdleActivity | undefined;
  /** Why the scenario failed, or why the cluster did not become idle. */
  readonly failure: RunFailure | undefined;
  /** Rejections of promises that nothing handled. */
  readonly unhandled: readonly string[];
  /** Requests that the API server rejected because the operator's role does not permit them. */
  readonly denied: readonly string[];
  /** Violations of invariants that the user declared. */
  readonly violations: readonly InvariantViolation[];
  /** How processes of the operator ended that were not killed. */
  readonly exits: readonly { readonly output: string }[];
  /** Objects that were ready, by kstatus' rules, before their children were, as sentences. */
  readonly prematureReadiness: readonly string[];
  /** The groups of the operator's own kinds, such as `example.com`. */
  readonly groups: readonly string[];
  /** What the scenario waited for last, and whether it is still so at the end; undefined if it waited for nothing. */
  readonly lastWait?: { readonly what: string; readonly holds: boolean };
  /** The external systems at the end, where there are any. */
  readonly external?: ExternalState;
}

/** Why a run did not get to its end. */
export interface RunFailure {
  /** `wait`: a wait of the scenario timed out. `restless`: the cluster did not become idle. `scenario`: anything else. */
  readonly type: "wait" | "restless" | "scenario";
  readonly message: string;
}

/** An invariant did not hold. */
export interface InvariantViolation {
  readonly invariant: string;
  readonly message: string;
  readonly at: number;
}

/**
 * Judges a run by what happened in it. `reference` is a run without faults, or the run itself when that is judged.
 * Returns one sentence for each thing that is wrong.
 */
export interface Oracle {
  /** A short name, such as `end state`: findings are grouped by it. */
  readonly name: string;
  /** What it means when this oracle reports something, in one sentence. */
  readonly meaning: string;
  check(run: ExploredRun, reference: ExploredRun): readonly string[];
}

/** The objects of the test namespace, as an invariant sees them. */
export interface ClusterState {
  /** The objects of a resource, such as `pods` or `widgets.example.com`, in the order of their names. */
  list(resource: string): readonly AnyObject[];
  get(resource: string, name: string): AnyObject | undefined;
}

/**
 * Something that must be true of the objects in the test namespace. `always`: in every state, after each single change.
 * `eventually`: in the state at the end.
 *
 * ```ts
 * const quorum: Invariant = {
 *   name: "at most one member is down",
 *   always: (state) => state.list("pods").filter(isReady).length >= 2,
 * };
 * ```
 */
export interface Invariant {
  readonly name: string;
  readonly always?: (state: ClusterState) => boolean;
  readonly eventually?: (state: ClusterState) => boolean;
}
