import type { FaultPoint } from "./fault-point.ts";

/** What goes wrong with the application that an operator runs, and not with the operator. */
export type ApplicationTrouble = "unready" | "evicted" | "slow stop" | "job fails";

/** Trouble of a pod or a Job, once. */
export interface ApplicationFault {
  readonly type: "application";
  readonly at: FaultPoint;
  /**
   * `unready`: a pod is not ready for a time. `evicted`: its node evicts a pod, which ends as Failed. `slow stop`: a pod that is
   * deleted now does not stop before its grace period ends, and is killed. `job fails`: the pods of a Job that is created now fail.
   */
  readonly trouble: ApplicationTrouble;
  /** The name of the pod, or of the Job; empty for a Job whose name is generated. */
  readonly name: string;
  /** How long it lasts, in milliseconds of the cluster's time. */
  readonly ms: number;
}

/** In words, without its point. */
export function applicationFaultName({ trouble, name, ms }: ApplicationFault): string {
  switch (trouble) {
    case "unready":
      return `pod ${name} is not ready for ${ms / 1000} s`;
    case "evicted":
      return `pod ${name} is evicted`;
    case "slow stop":
      return `pod ${name} does not stop before its grace period ends`;
    case "job fails":
      return `the pods of Job ${name || "*"} fail`;
  }
}
