import { ApiError, quoted } from "@konverge/core";
import type { Call } from "./call.ts";

/** How long a read waits for a version that is yet to come. */
const PATIENCE_MS = 3000;

/** A resourceVersion parameter as a revision, 0 when it is missing or "0"; undefined when it is none. */
export function revisionOf(text: string): number | undefined {
  if (text === "") return 0;
  return /^[0-9]+$/.test(text) ? Number(text) : undefined;
}

/** What is wrong with a resourceVersion that is no revision. */
export function versionProblem(text: string): string {
  return `resourceVersion: Invalid value: ${quoted(text)}: strconv.ParseUint: parsing ${quoted(text)}: invalid syntax`;
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
