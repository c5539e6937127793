import { notFound, parseJson, quoted } from "@konverge/core";
import { CollectionFollower } from "../../storage/collection-follower.ts";
import type { Entry } from "../../storage/entry.ts";
import type { Store } from "../../storage/store.ts";
import { serviceAccountUserName, type User } from "../user.ts";
import { type BindingObject, RBAC_GROUP, RBAC_RESOURCES, type RoleObject, type RoleRef } from "./role-objects.ts";
import type { PolicyRule } from "./rules.ts";

/** A binding as authorization needs it. */
export interface Binding {
  readonly kind: "ClusterRoleBinding" | "RoleBinding";
  readonly name: string;
  /** Empty for cluster role bindings. */
  readonly namespace: string;
  readonly roleRef: RoleRef;
  /** For each subject, who it is (see {@link subjectKeys}) and how messages call it. */
  readonly subjects: readonly { key: string; description: string }[];
}

/** Bindings of one namespace (or of the cluster) by the users and groups they are for. */
type BySubject = Map<string, Set<Binding>>;

const MOST_REMEMBERED = 1000;
/** A user with the permission to impersonate can name as many and as long groups as headers hold. */
const LONGEST_REMEMBERED = 4096;

/**
 * Roles and bindings, found by whom they concern. It follows the store by its changes: a request costs one comparison of
 * revisions when no role or binding has changed, and only the changed ones are read again when some have.
 */
export class RoleIndex {
  readonly #follower: CollectionFollower;
  readonly #clusterRoles = new Map<string, readonly PolicyRule[]>();
  readonly #roles = new Map<string, readonly PolicyRule[]>();
  readonly #bindings = new Map<string, Binding>();
  readonly #scopes = new Map<string, BySubject>();
  readonly #remembered = new Map<string, readonly Binding[]>();

  constructor(store: Store) {
    this.#follower = new CollectionFollower(store, Object.values(RBAC_RESOURCES), {
      clear: () => {
        for (const map of [this.#clusterRoles, this.#roles, this.#bindings, this.#scopes, this.#remembered])
          map.clear();
      },
      set: (resource, key, entry) => this.#set(resource, key, entry),
    });
  }

  /** The bindings that apply to a user in a namespace (or cluster-wide, for ""), cluster role bindings first, by name. */
  bindingsFor(user: User, namespace: string): readonly Binding[] {
    this.#follower.follow();
    const keys = subjectKeys(user);
    // Clients make up names of namespaces: only those with bindings are remembered.
    const scope = this.#scopes.has(namespace) ? namespace : "";
    const question = `${scope}\n${keys.join("\n")}`;
    let bindings = this.#remembered.get(question);
    if (!bindings) {
      bindings = [...this.#inScope("", keys), ...(scope === "" ? [] : this.#inScope(scope, keys))];
      if (this.#remembered.size >= MOST_REMEMBERED) this.#remembered.clear();
      if (question.length <= LONGEST_REMEMBERED) this.#remembered.set(question, bindings);
    }
    return bindings;
  }

  /** The rules of the role that a binding in a namespace (or a cluster role binding, for "") refers to; undefined: none. */
  rulesOf(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    this.#follower.follow();
    if (ref.kind === "ClusterRole") return this.#clusterRoles.get(ref.name);
    return ref.kind === "Role" ? this.#roles.get(`${namespace}/${ref.name}`) : undefined;
  }

  #inScope(scope: string, keys: readonly string[]): Binding[] {
    const bySubject = this.#scopes.get(scope);
    if (!bySubject) return [];
    const found = new Set<Binding>();
    for (const key of keys) for (const binding of bySubject.get(key) ?? []) found.add(binding);
    return [...found].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #set(resource: string, key: string, entry: Entry | undefined): void {
    const { clusterRoles, roles } = RBAC_RESOURCES;
    if (resource === clusterRoles || resource === roles) {
      const rules = resource === clusterRoles ? this.#clusterRoles : this.#roles;
      if (entry) rules.set(key, (parseJson(entry.text) as RoleObject).rules ?? []);
      else rules.delete(key);
      return;
    }
    this.#remembered.clear();
    const id = `${resource} ${key}`;
    const before = this.#bindings.get(id);
    if (before) this.#unlink(before);
    this.#bindings.delete(id);
    if (!entry) return;
    const binding = bindingOf(parseJson(entry.text) as BindingObject);
    this.#bindings.set(id, binding);
    this.#link(binding);
  }

  #link(binding: Binding): void {
    const bySubject = this.#scopes.get(binding.namespace) ?? new Map<string, Set<Binding>>();
    this.#scopes.set(binding.namespace, bySubject);
    for (const { key } of binding.subjects) bySubject.set(key, (bySubject.get(key) ?? new Set()).add(binding));
  }

  #unlink(binding: Binding): void {
    const bySubject = this.#scopes.get(binding.namespace);
    for (const { key } of binding.subjects) {
      const bindings = bySubject?.get(key);
      bindings?.delete(binding);
      if (bindings?.size === 0) bySubject?.delete(key);
    }
    if (bySubject?.size === 0) this.#scopes.delete(binding.namespace);
  }
}

/** What a binding may call a user: by name, or by a group. */
export function subjectKeys(user: User): string[] {
  return [`User ${user.name}`, ...user.groups.map((group) => `Group ${group}`)];
}

/** As the authorizer says that a binding's role is missing: with the singular, unlike every other message. */
export function roleNotFound(ref: RoleRef): Error {
  if (ref.kind !== "Role" && ref.kind !== "ClusterRole") {
    return new Error(`unsupported role reference kind: ${quoted(ref.kind)}`);
  }
  return notFound({ group: RBAC_GROUP, plural: ref.kind.toLowerCase() }, ref.name);
}

function bindingOf({ kind, metadata, roleRef, subjects }: BindingObject): Binding {
  const { name, namespace = "" } = metadata;
  return {
    kind: kind as Binding["kind"],
    name,
    namespace,
    roleRef,
    subjects: (subjects ?? []).map((subject) => {
      if (subject.kind !== "ServiceAccount") {
        return {
          key: `${subject.kind} ${subject.name}`,
          description: `${subject.kind} ${quoted(subject.name)}`,
        };
      }
      // In a role binding a service account without a namespace is one of the binding's own.
      const home = subject.namespace || namespace;
      return {
        key: home === "" ? "" : `User ${serviceAccountUserName(home, subject.name)}`,
        description: `ServiceAccount ${quoted(`${subject.name}/${home}`)}`,
      };
    }),
  };
}
