import type { OperatorVersion } from "./kudo-kinds.ts";
import { versionName } from "./task-drafts.ts";

/** Packages that install each other would do so without an end. Returns which they are. */
export function dependencyCycle(
  version: OperatorVersion,
  find: (key: string) => OperatorVersion | undefined,
  path: readonly string[] = [],
): string | undefined {
  const { namespace, name } = version.metadata;
  if (path.includes(name!)) return `cyclic package dependency found: ${[...path, name].join(" -> ")}`;
  for (const { kind, spec } of version.spec?.tasks ?? []) {
    if (kind !== "KudoOperator" || !spec?.package) continue;
    const needed = find(`${namespace}/${versionName(spec.package, spec.appVersion, spec.operatorVersion ?? "")}`);
    const cycle = needed && dependencyCycle(needed, find, [...path, name!]);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
