import { deepEqual, selectsLabels } from "@konverge/core";
import { ClusterRole } from "@konverge/kinds";
import { watchKind } from "@konverge/runtime";
import { builtInController } from "../parts/built-in-controller.ts";
import { controllersComponent } from "../parts/part.ts";
import { selectorOf } from "./workloads/selector.ts";

const NAME = "clusterrole-aggregation-controller";

type Rule = NonNullable<ClusterRole["rules"]>[number];

function aggregationController() {
  const aggregated = new Set<string>();
  return builtInController(ClusterRole, {
    name: NAME,
    when({ type, key, object }) {
      if (type !== "deleted" && object.aggregationRule) aggregated.add(key);
      else aggregated.delete(key);
      return object.aggregationRule !== undefined;
    },
    watches: [watchKind<ClusterRole, ClusterRole>(ClusterRole, { to: () => [...aggregated] })],
    async reconcile(role, { client, cache }) {
      if (!role.aggregationRule) return undefined;
      const all = cache.list(ClusterRole).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
      const rules: Rule[] = [];
      for (const selector of role.aggregationRule.clusterRoleSelectors ?? []) {
        for (const other of all) {
          if (other.metadata.name === role.metadata.name) continue;
          if (!selectsLabels(selectorOf(selector), other.metadata.labels)) continue;
          for (const rule of other.rules ?? []) if (!rules.some((one) => deepEqual(one, rule))) rules.push(rule);
        }
      }
      if (deepEqual(role.rules ?? [], rules)) return undefined;
      const metadata = { name: role.metadata.name };
      // Direct write: the rules of the object itself are aggregated.
      await client.apply(ClusterRole, { metadata, rules: rules as never }, { force: true, fieldManager: NAME });
      return undefined;
    },
  });
}

/** Gives ClusterRoles the rules of those that they gather. */
export const clusterRoleAggregation = controllersComponent(NAME, [ClusterRole], () => [aggregationController()]);
