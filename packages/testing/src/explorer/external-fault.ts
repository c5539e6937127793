import type { FaultPoint } from "./fault-point.ts";

/** What happens to a call of an external system. */
export type ExternalOutcome = "error" | "timeout" | "slow" | "lost answer" | "crash before" | "crash after";

/** Something that goes wrong once, at one call of an external system. */
export interface ExternalFault {
  readonly type: "external call";
  readonly at: FaultPoint;
  /**
   * `error`: the system refuses the connection. `timeout`: it does not answer, and nothing is done. `slow`: it answers late. `lost
   * answer`: it does what it was asked, and the connection breaks. `crash before` and `crash after`: the operator's process is killed
   * before the call, or when the system has done it.
   */
  readonly outcome: ExternalOutcome;
}

/** Milliseconds of the cluster's time. */
export const EXTERNAL_DELAY = 20_000;

const OUTCOMES: readonly ExternalOutcome[] = ["error", "timeout", "slow", "lost answer", "crash before", "crash after"];

/** All that can happen to a call. */
export function externalFaultsAt(at: FaultPoint): ExternalFault[] {
  return OUTCOMES.map((outcome) => ({ type: "external call", at, outcome }));
}

/** In words, without its point. */
export function externalFaultName({ outcome }: ExternalFault): string {
  switch (outcome) {
    case "error":
      return "the external system refuses the connection";
    case "timeout":
      return `no answer of the external system within ${EXTERNAL_DELAY / 1000} s, and nothing done`;
    case "slow":
      return `answer of the external system ${EXTERNAL_DELAY / 1000} s late`;
    case "lost answer":
      return "answer of the external system lost after the call took effect";
    case "crash before":
      return "crash before the external call";
    case "crash after":
      return "crash after the external call took effect";
  }
}
