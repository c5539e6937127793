import type { Client } from "@konverge/client";
import { type KindRef, type KubeObject, keyOf } from "@konverge/core";
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from "@konverge/kinds";
import { type Operator, type Permission, rolesFor } from "@konverge/runtime";
import { applyObjects } from "../deploy/apply-objects.ts";

/** Whose permissions operators of `konverge run` have; `auto`: the generated role's on an embedded cluster, the user's elsewhere. */
export type PermissionsOf = "auto" | "generated" | "kubeconfig";

/** Marks the roles of `konverge run`, with the operator's name. */
const LABEL = "konverge.dev/run-role";
/** Seconds: a run is not ended by its token, even if the time of the cluster is changed. */
const TOKEN_LIFETIME = 10 * 365 * 24 * 3600;

/** Whether operators act under their generated roles. */
export async function actsUnderGeneratedRole(client: Client, choice: PermissionsOf): Promise<boolean> {
  if (choice !== "auto") return choice === "generated";
  if ((await client.version()).gitCommit !== "konverge") return false;
  const kind = { group: "rbac.authorization.k8s.io", plural: "clusterroles" };
  return (await client.canI({ verb: "create", kind })).allowed;
}

/**
 * Gives a service account exactly these permissions, and returns a token of it. The account is not the one of `konverge deploy`: a
 * run neither adds to the role of a deployed operator nor profits from it. The role stays when the run ends, because another
 * replica may use it; the next run replaces it.
 */
export async function generatedRoleToken(
  { name: operator }: Operator,
  permissions: readonly Permission[],
  client: Client,
): Promise<string> {
  const name = `${operator}-run`;
  const { namespace } = client;
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } };
  const labels = { "app.kubernetes.io/managed-by": "konverge", [LABEL]: operator };
  const roles = rolesFor(permissions, { name, serviceAccount: { name, namespace } }).map((role) => ({
    ...role,
    metadata: { ...role.metadata, labels },
  }));
  await applyObjects(client, [account, ...roles], { tell: () => {} });
  const kept = new Set(roles.map((role) => `${role.kind} ${keyOf(role)}`));
  for (const kind of [RoleBinding, ClusterRoleBinding, Role, ClusterRole] as unknown as KindRef<KubeObject>[]) {
    const { items } = await client.list(kind, { labelSelector: `${LABEL}=${operator}` });
    for (const one of items) if (!kept.has(`${kind.kind} ${keyOf(one)}`)) await client.delete(kind, keyOf(one));
  }
  const key = `${namespace}/${name}`;
  return (await client.requestToken(key, { expirationSeconds: TOKEN_LIFETIME })).token;
}
