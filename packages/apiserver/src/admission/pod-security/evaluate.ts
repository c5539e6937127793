import { BASELINE } from "./baseline-checks.ts";
import type { Check, CheckedPod, CheckPod, Violation } from "./check.ts";
import type { LevelVersion } from "./policy.ts";
import { RESTRICTED } from "./restricted-checks.ts";

/** What a level, as of a version, forbids of a pod. */
export function violations({ level, version }: LevelVersion, pod: CheckedPod): Violation[] {
  if (level === "privileged") return [];
  const minor = version === "latest" ? Number.POSITIVE_INFINITY : version;
  const strict = level === "restricted" ? RESTRICTED : [];
  const overridden = new Set(strict.flatMap((check) => (revision(check, minor) ? (check.overrides ?? []) : [])));
  const checks = [...BASELINE.filter(({ id }) => !overridden.has(id)), ...strict];
  return checks.flatMap((check) => revision(check, minor)?.(pod) ?? []);
}

/** The check as of a version; undefined before there was one. */
function revision({ versions }: Check, minor: number): CheckPod | undefined {
  return versions.findLast(({ since }) => since <= minor)?.check;
}

/** As one text: each reason, with where it applies. */
export function describe(found: readonly Violation[]): string {
  return found.map(({ reason, detail }) => `${reason} (${detail})`).join(", ");
}
