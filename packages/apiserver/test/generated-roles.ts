import { type AnyObject, seededRandom } from "@konverge/core";
import { RBAC_GROUP } from "../src/auth/rbac/role-objects.ts";
import type { PolicyRule } from "../src/auth/rbac/rules.ts";
import { AUTHENTICATED, type User } from "../src/auth/user.ts";

/** The same questions in every run. */
export const random = seededRandom(20);
export const pick = <T>(items: readonly T[]): T => random.pick(items);
const some = <T>(items: readonly T[], most = 3): T[] => [
  ...new Set(Array.from({ length: 1 + random.below(most) }, () => pick(items))),
];

export const NAMESPACES = ["default", "kube-system", "team-a"];
export const VERBS = [
  "get",
  "list",
  "watch",
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
  "*",
  "bind",
  "escalate",
];
export const GROUPS = ["", "apps", "batch", RBAC_GROUP, "example.com", "*"];
const RESOURCES = [
  "pods",
  "pods/log",
  "pods/status",
  "secrets",
  "configmaps",
  "deployments",
  "deployments/scale",
  "jobs",
  "roles",
  "clusterroles",
  "rolebindings",
  "*",
  "*/scale",
  "*/status",
];
export const NAMES = ["one", "two"];
const URLS = ["/metrics", "/logs/*", "/x*", "*", "/healthz/ping"];
export const USERS = [
  "jane",
  "bob",
  "carol <c&d>",
  'quo"te',
  "system:serviceaccount:team-a:robot",
  "system:serviceaccount:default:robot",
];
const USER_GROUPS = ["devs", "ops"];

export function someRule(): PolicyRule {
  if (random.below(6) === 0) return { nonResourceURLs: some(URLS, 2), verbs: some(["get", "post", "*"], 2) };
  const names = random.below(5) === 0 ? { resourceNames: some(NAMES, 2) } : {};
  return { apiGroups: some(GROUPS), resources: some(RESOURCES), ...names, verbs: some(VERBS, 4) };
}

export const subjects = () =>
  some([
    ...USERS.slice(0, 4).map((name) => ({ apiGroup: RBAC_GROUP, kind: "User", name })),
    ...USER_GROUPS.map((name) => ({ apiGroup: RBAC_GROUP, kind: "Group", name })),
    { kind: "ServiceAccount", name: "robot", namespace: "team-a" },
    { kind: "ServiceAccount", name: "robot", namespace: "default" },
  ]);

export const object = (kind: string, name: string, namespace: string, rest: object) => ({
  apiVersion: `${RBAC_GROUP}/v1`,
  kind,
  metadata: { name, ...(namespace && { namespace }) },
  ...rest,
});

/** Roles and bindings of all forms; some bindings are to roles that do not exist. */
export function generateRoles(): [plural: string, object: AnyObject][] {
  const ref = (kind: string, name: string) => ({ roleRef: { apiGroup: RBAC_GROUP, kind, name } });
  const isLocal = (rules: PolicyRule[]) => rules.filter(({ nonResourceURLs }) => !nonResourceURLs);
  const all: [string, object][] = [];
  for (let i = 0; i < 14; i++) {
    const [name, namespace] = [`gen-${i}`, pick(NAMESPACES)];
    const rules = Array.from({ length: 1 + random.below(3) }, someRule);
    all.push(["clusterroles", object("ClusterRole", name, "", { rules })]);
    all.push(["roles", object("Role", name, namespace, { rules: isLocal(rules) })]);
    const clusterRole = ref("ClusterRole", random.below(8) === 0 ? "missing" : name);
    const localRole = random.below(2) === 0 ? clusterRole : ref("Role", random.below(8) === 0 ? "missing" : name);
    if (i % 2 === 0) {
      all.push([
        "clusterrolebindings",
        object("ClusterRoleBinding", name, "", { subjects: subjects(), ...clusterRole }),
      ]);
    }
    all.push(["rolebindings", object("RoleBinding", name, namespace, { subjects: subjects(), ...localRole })]);
  }
  return all as [string, AnyObject][];
}

export const someUser = (): User => {
  const name = pick(USERS);
  const account = /^system:serviceaccount:(.*):/.exec(name)?.[1];
  const groups = account
    ? ["system:serviceaccounts", `system:serviceaccounts:${account}`]
    : USER_GROUPS.filter(() => random.below(2) === 0);
  return { name, groups: [...groups, AUTHENTICATED] };
};
