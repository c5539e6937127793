/** How far a release is: `status.release`. Pure. */
import type { Condition, KubeObject } from "@konverge/core";

/** The state of a release, as it is stored. */
export interface ReleaseState {
  readonly revision: number;
  readonly operation: "install" | "upgrade";
  readonly phase: "pre-hooks" | "apply" | "post-hooks" | "deployed" | "failed";
  /** Identifies the chart and the values. */
  readonly inputs: string;
  readonly startedAt: string;
  readonly deployedRevision?: number;
  /** Hooks of this revision that have succeeded. */
  readonly hooks: readonly string[];
  readonly failure?: string;
}

/** What a release reports. */
export interface ReleaseStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly deployedRelease?: { readonly name: string };
  readonly release?: ReleaseState;
}

/** An object whose spec is the values of a chart. */
export interface Release extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: ReleaseStatus;
}

/** The state for these inputs: the stored one, or the beginning of the next revision. */
export function currentState(stored: ReleaseState | undefined, inputs: string, now: string): ReleaseState {
  if (stored?.inputs === inputs) return { ...stored, hooks: stored.hooks ?? [] };
  const deployedRevision = stored?.deployedRevision;
  return {
    revision: (stored?.revision ?? 0) + 1,
    operation: deployedRevision === undefined ? "install" : "upgrade",
    phase: "pre-hooks",
    inputs,
    startedAt: now,
    hooks: [],
    ...(deployedRevision !== undefined && { deployedRevision }),
  };
}
