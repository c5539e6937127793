import { dns1123LabelErrors, dns1123SubdomainErrors } from "@konverge/core";

/** Who asks, after authentication and impersonation. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Its members may do anything, whatever the roles say. */
export const MASTERS = "system:masters";
/** The group of all authenticated users. */
export const AUTHENTICATED = "system:authenticated";
/** The group of all unauthenticated users. */
export const UNAUTHENTICATED = "system:unauthenticated";
/** The name of unauthenticated users. */
export const ANONYMOUS = "system:anonymous";

/** The user of a request without credentials. */
export const anonymousUser: User = { name: ANONYMOUS, groups: [UNAUTHENTICATED] };

/** Adds the group of authenticated users, unless the user already has that of authenticated or unauthenticated ones. */
export function withAuthenticatedGroup(user: User): User {
  const { groups } = user;
  if (user.name === ANONYMOUS || groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED)) return user;
  return { ...user, groups: [...groups, AUTHENTICATED] };
}

const SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:";

/** The user that a service account is. */
export function serviceAccountUserName(namespace: string, name: string): string {
  return `${SERVICE_ACCOUNT_PREFIX}${namespace}:${name}`;
}

/** The groups that a service account of a namespace is in. */
export function serviceAccountGroups(namespace: string): string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}

/** The service account that a user name stands for, if it is well-formed. */
export function serviceAccountOf(userName: string): { namespace: string; name: string } | undefined {
  if (!userName.startsWith(SERVICE_ACCOUNT_PREFIX)) return undefined;
  const [namespace, name, ...rest] = userName.slice(SERVICE_ACCOUNT_PREFIX.length).split(":");
  if (!namespace || !name || rest.length > 0) return undefined;
  const wellFormed = dns1123LabelErrors(namespace).length === 0 && dns1123SubdomainErrors(name).length === 0;
  return wellFormed ? { namespace, name } : undefined;
}

/** The group of all kubelets. */
export const NODES = "system:nodes";
const NODE_PREFIX = "system:node:";

/** The node whose kubelet a user is, which may be empty; undefined for users that are no kubelets. */
export function nodeIdentity({ name, groups }: User): string | undefined {
  return name.startsWith(NODE_PREFIX) && groups.includes(NODES) ? name.slice(NODE_PREFIX.length) : undefined;
}

/** The node that a user name stands for, if it is well-formed. */
export function nodeOf(userName: string): string | undefined {
  const name = userName.startsWith(NODE_PREFIX) ? userName.slice(NODE_PREFIX.length) : "";
  return name !== "" && dns1123SubdomainErrors(name).length === 0 ? name : undefined;
}
