import { parseQuantity, type Quantity, type QuantityValue } from "@konverge/core";
import type { Pod } from "@konverge/kinds";

/** Bytes that a pod has written, by the names of its containers and of its volumes. */
export interface WrittenBytes {
  readonly containers: ReadonlyMap<string, number>;
  readonly volumes: ReadonlyMap<string, number>;
}

const STORAGE = "ephemeral-storage";

/** Why a kubelet evicts a pod for what it has written to its node, in the kubelet's words; undefined when it does not. */
export function storageProblem(pod: Pod, { containers, volumes }: WrittenBytes): string | undefined {
  const { spec } = pod;
  let total = 0;
  for (const { name, emptyDir } of spec?.volumes ?? []) {
    // A volume in memory has a size instead.
    if (emptyDir?.medium === "Memory") continue;
    const bytes = volumes.get(name) ?? 0;
    const limit = emptyDir?.sizeLimit;
    if (isOver(bytes, limit)) return `Usage of EmptyDir volume "${name}" exceeds the limit "${limit}". `;
    total += bytes;
  }
  for (const bytes of containers.values()) total += bytes;
  const most = totalLimit(pod)?.toString();
  if (isOver(total, most)) return `Pod ephemeral local storage usage exceeds the total limit of containers ${most}. `;
  for (const { name, resources } of spec?.containers ?? []) {
    const limit = resources?.limits?.[STORAGE];
    if (isOver(containers.get(name) ?? 0, limit))
      return `Container ${name} exceeded its local ephemeral storage limit "${limit}". `;
  }
  return undefined;
}

/** The number of bytes after which the limits of a pod must be checked; `own` is one of them. */
export function checkedAfter(pod: Pod, own: QuantityValue | undefined): number | undefined {
  const limits = [own, totalLimit(pod)?.toString()].filter((limit) => limit !== undefined);
  const bytes = limits.map((limit) => parseQuantity(limit).asNumber()).filter((limit) => limit > 0);
  return bytes.length === 0 ? undefined : Math.min(...bytes);
}

/** What all containers together may write; undefined unless each has a limit. */
function totalLimit({ spec }: Pod): Quantity | undefined {
  const limits = spec?.containers.map(({ resources }) => resources?.limits?.[STORAGE]) ?? [];
  if (limits.length === 0 || limits.includes(undefined)) return undefined;
  return limits.map((limit) => parseQuantity(limit!)).reduce((a, b) => a.add(b));
}

function isOver(bytes: number, limit: QuantityValue | undefined): boolean {
  const most = limit === undefined ? 0 : parseQuantity(limit).asNumber();
  return most > 0 && bytes > most;
}
