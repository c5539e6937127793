import type { Stage } from "./stage.ts";

/** Something that must go the same way on every server. */
export interface Scenario {
  readonly name: string;
  readonly play: (stage: Stage) => Promise<void>;
  /** It needs virtual time, or a hand in the traffic: only the embedded server has that. */
  readonly virtual: boolean;
}

export const scenarios: Scenario[] = [];

/** A scenario for both the embedded server and a real one. */
export function scenario(name: string, play: Scenario["play"]): void {
  scenarios.push({ name, play, virtual: false });
}

/** A scenario for the embedded server alone. */
export function virtual(name: string, play: Scenario["play"]): void {
  scenarios.push({ name, play, virtual: true });
}
