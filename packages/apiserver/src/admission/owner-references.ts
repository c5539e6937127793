import { deepEqual, type OwnerReference, parseApiVersion } from "@konverge/core";
import { resourceAttributes } from "../auth/attributes.ts";
import { type AdmissionAttributes, type AdmissionPlugin, refusal } from "./attributes.ts";

/** Changes of a binding or a finalizer need separate permissions. */
const EXEMPT = new Set(["/pods/status"]);

/**
 * Who gives an object an owner must be allowed to delete it; who makes it hold up its owner's deletion must be allowed to
 * finalize the owner. Off unless asked for, as in a real server.
 */
export const ownerReferencesPermissionEnforcement: AdmissionPlugin = {
  name: "OwnerReferencesPermissionEnforcement",
  handles: ({ operation, group, resource, subresource, object }) =>
    (operation === "CREATE" || operation === "UPDATE") &&
    object?.metadata !== undefined &&
    !EXEMPT.has(`${group}/${resource}/${subresource}`),
  validate(attributes) {
    const { object, old, operation, group, resource, subresource, namespace, name, call } = attributes;
    const [now, before] = [ownersOf(object), ownersOf(old)];
    if (deepEqual(now, before)) return;
    if (operation !== "CREATE") {
      const deletion = resourceAttributes("delete", { group, resource, subresource, namespace, name });
      const { allowed, reason } = call.authorize(call.user, deletion);
      if (!allowed) {
        throw refusal(attributes, `cannot set an ownerRef on a resource you can't delete: ${reason}, <nil>`);
      }
    }
    const blocking = now.filter(
      (owner) => owner.blockOwnerDeletion && !before.some((one) => one.uid === owner.uid && one.blockOwnerDeletion),
    );
    if (blocking.length === 0) return;
    const any = resourceAttributes("update", { group: "*", resource: "*", subresource: "finalizers", name: "*" });
    if (call.authorize(call.user, any).allowed) return;
    for (const owner of blocking) checkFinalizes(attributes, owner);
  },
};

function ownersOf(object: AdmissionAttributes["object"]): readonly OwnerReference[] {
  return object?.metadata?.ownerReferences ?? [];
}

function checkFinalizes(attributes: AdmissionAttributes, { apiVersion, kind, name }: OwnerReference): void {
  const { call, namespace } = attributes;
  const { group, version } = parseApiVersion(apiVersion);
  const definition = call.registry.byKind(group, kind);
  if (!definition?.versions.has(version)) {
    const why = `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`;
    const unknown = `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${why}`;
    throw refusal(attributes, unknown);
  }
  const action = resourceAttributes("update", {
    group,
    resource: definition.plural,
    subresource: "finalizers",
    name,
    namespace: definition.namespaced ? namespace : "",
  });
  const { allowed, reason } = call.authorize(call.user, action);
  if (allowed) return;
  const why = `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${reason}, <nil>`;
  throw refusal(attributes, why);
}
