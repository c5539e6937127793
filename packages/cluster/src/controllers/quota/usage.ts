import { isInQuotaScope, isQuotaNameOf, quotaUsageOf } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import { Quantity } from "@konverge/core";
import type { ResourceQuota } from "@konverge/kinds";
import type { ServedKinds } from "../../parts/served-kinds.ts";

/**
 * Computes what is used of each resource that a quota limits: the sum over all objects that it concerns, each counted as
 * admission counts it. A resource that no object can use is left out.
 */
export async function usedOf(
  client: Client,
  kinds: ServedKinds,
  quota: ResourceQuota,
): Promise<Record<string, string>> {
  const { namespace = "" } = quota.metadata;
  const used = new Map<string, Quantity>();
  for (const kind of kinds.all().filter(({ namespaced }) => namespaced)) {
    const names = Object.keys(quota.spec?.hard ?? {}).filter((name) => isQuotaNameOf(name, kind.group, kind.plural));
    if (names.length === 0) continue;
    for (const name of names) used.set(name, Quantity.of(0));
    for (const object of (await client.list(kind, { namespace })).items) {
      if (!isInQuotaScope(quota, kind.plural, object)) continue;
      const usage = quotaUsageOf(kind.group, kind.plural, object);
      for (const name of names) used.set(name, used.get(name)!.add(usage.get(name) ?? Quantity.of(0)));
    }
  }
  return Object.fromEntries(Array.from(used, ([name, amount]) => [name, String(amount)]));
}
