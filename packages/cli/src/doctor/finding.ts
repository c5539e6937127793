import { type KubeObject, keyOf } from "@konverge/core";

/** The checks of `konverge doctor`, by name. */
export type CheckName =
  | "permissions"
  | "webhooks"
  | "certificates"
  | "finalizers"
  | "versions"
  | "readiness"
  | "conflicts"
  | "hot-loops"
  | "paused";

/** Something that is wrong, and what to do about it. */
export interface Finding {
  readonly check: CheckName;
  /** `TrainingJob default/llama`. */
  readonly object: string;
  readonly problem: string;
  /** What to do, in a sentence. */
  readonly fix: string;
}

/** An object as findings name it. */
export const nameOf = (object: KubeObject): string => `${object.kind ?? "object"} ${keyOf(object)}`;
