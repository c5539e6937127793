// Give an operator exactly the permissions that it needs: they follow from its definition.
import { cacheKind, controller, defineKind, z } from "konverge";
import { ConfigMap, Secret } from "konverge/kinds";
import { controllerPermissions, rolesFor } from "konverge/rbac";

export const Door = defineKind({
  group: "examples.konverge.dev",
  kind: "Door",
  versions: { v1: { spec: z.object({ key: z.string() }) } },
});

export const doors = controller(Door, {
  owns: [ConfigMap],
  watches: [cacheKind(Secret)],
  reconcile({ metadata, spec }, { cache }) {
    const open = cache.get(Secret, `${metadata.namespace}/${spec.key}`) !== undefined;
    const data = { open: String(open) };
    return { children: [ConfigMap.draft({ metadata: { name: metadata.name }, data })] };
  },
});

/** The Role and the RoleBinding of a service account that runs the operator. */
export const doorRoles = (namespace: string) =>
  rolesFor(controllerPermissions([doors], { namespaces: [namespace] }), {
    name: "doors",
    serviceAccount: { name: "doors", namespace },
  });
