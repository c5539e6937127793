import { ApiError, quoted } from "@konverge/core";
import type { Call } from "../call/call.ts";

/** How long a read waits for a version that is yet to come. */
const PATIENCE_MS = 3000;

/** A resourceVersion parameter as a revision, 0 when it is missing or "0"; undefined when it is none. */
export function revisionOf(text: string): number | undefined {
  if (text === "") return 0;
  return isUint64(text) ? Number(text) : undefined;
}

const isDigits = (text: string) => /^[0-9]+$/.test(text);
/** Digits beyond these are too many, unless they are zeros in front. */
const LONGEST_UINT64 = 20;

function isUint64(text: string): boolean {
  if (!isDigits(text)) return false;
  const digits = text.replace(/^0+/, "");
  return digits.length < LONGEST_UINT64 || (digits.length === LONGEST_UINT64 && BigInt(digits) < 2n ** 64n);
}

/** What is wrong with a resourceVersion parameter that is no revision. */
export function versionProblem(text: string): string {
  return `resourceVersion: Invalid value: ${quoted(text)}: ${parseProblem(text)}`;
}

/** What is wrong with the resourceVersion of an object that is no revision. */
export function parseProblem(text: string): string {
  return `strconv.ParseUint: parsing ${quoted(text)}: ${isDigits(text) ? "value out of range" : "invalid syntax"}`;
}

/** Resolves when the store has come as far as a revision; throws 504 when it does not within a few seconds. */
export async function waitFor(call: Call, revision: number): Promise<void> {
  const { store, clock } = call;
  if (store.published >= revision) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = clock.after(PATIENCE_MS, resolve, { label: "wait for a resource version" });
  const stops = [...store.resources()].map((resource) =>
    store.onChange(resource, () => store.published >= revision && resolve()),
  );
  await promise;
  timer.cancel();
  for (const stop of stops) stop();
  if (store.published < revision) throw tooLargeVersion(revision, store.published);
}

export function tooLargeVersion(revision: number, current: number): ApiError {
  return new ApiError({
    code: 504,
    reason: "Timeout",
    message: `Timeout: Too large resource version: ${revision}, current: ${current}`,
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  });
}
