import { readFileSync } from "node:fs";
import { type FieldError, parseJson } from "@konverge/core";

/** What an API server made of a case: its HTTP status, and the causes or unknown fields it named, sorted. */
export interface Observation {
  status: number;
  problems: string[];
  /** The spec as it was accepted. */
  spec?: unknown;
}

/** Observations by case. */
export type Recording = Record<string, Observation>;

export const RECORDING_FILE = new URL("./generated/observed.json", import.meta.url);

/** What kube-apiserver said when `observed.real.test.ts` last recorded it. */
export function readRecording(): Recording {
  return parseJson(readFileSync(RECORDING_FILE, "utf8")) as Recording;
}

/** A cause on one line. */
export function causeText({ reason, field, message }: Pick<FieldError, "reason" | "field" | "message">): string {
  return `${reason} ${field}: ${message}`;
}
