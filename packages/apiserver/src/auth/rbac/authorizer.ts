import { append, quoted } from "@konverge/core";
import type { Store } from "../../storage/store.ts";
import type { Attributes } from "../attributes.ts";
import { NodeAuthorizer } from "../node/node-authorizer.ts";
import { MASTERS, type User } from "../user.ts";
import { defaultRules } from "./default-roles.ts";
import { type Binding, RoleIndex, roleNotFound, subjectKeys } from "./role-index.ts";
import type { RoleRef } from "./role-objects.ts";
import { type PolicyRule, ruleAllows } from "./rules.ts";

/** What every kubelet may do; how much of it is up to the authorizer of nodes. */
const NODE_RULES = defaultRules("system:node");

/** Whether an action is allowed, and by or for what reason. */
export interface Decision {
  readonly allowed: boolean;
  /** May be empty. */
  readonly reason: string;
}

/**
 * Who may do what, by the objects in the store as they are at the moment of the question: kubelets what their pods need
 * ({@link NodeAuthorizer}), and every user what roles and bindings allow. None forbids what another allows.
 */
export class Authorizer {
  readonly #index: RoleIndex;
  readonly #nodes: NodeAuthorizer;

  constructor(store: Store) {
    this.#index = new RoleIndex(store);
    this.#nodes = new NodeAuthorizer(store, (action) => NODE_RULES.some((rule) => ruleAllows(rule, action)));
  }

  authorize(user: User, action: Attributes): Decision {
    if (user.groups.includes(MASTERS)) return { allowed: true, reason: "" };
    const asNode = this.#nodes.authorize(user, action);
    if (asNode === true) return { allowed: true, reason: "" };
    const byRole = this.#byRole(user, action);
    if (byRole.allowed || !asNode) return byRole;
    return { allowed: false, reason: byRole.reason === "" ? asNode : `${asNode}\n${byRole.reason}` };
  }

  #byRole(user: User, action: Attributes): Decision {
    const missing: Error[] = [];
    for (const binding of this.#index.bindingsFor(user, action.namespace)) {
      const rules = this.#index.rulesOf(binding.roleRef, binding.namespace);
      if (!rules) missing.push(roleNotFound(binding.roleRef));
      else if (rules.some((rule) => ruleAllows(rule, action))) {
        return { allowed: true, reason: `RBAC: allowed by ${describe(binding, user)}` };
      }
    }
    return { allowed: false, reason: missing.length === 0 ? "" : `RBAC: ${aggregate(missing)}` };
  }

  /** All rules that apply to a user in a namespace, and the roles that bindings to the user refer to in vain. */
  rulesFor(user: User, namespace: string): { rules: PolicyRule[]; missing: RoleRef[] } {
    const rules: PolicyRule[] = [];
    const missing: RoleRef[] = [];
    for (const { roleRef, namespace: home } of this.#index.bindingsFor(user, namespace)) {
      const found = this.#index.rulesOf(roleRef, home);
      if (found) append(rules, found);
      else missing.push(roleRef);
    }
    return { rules, missing };
  }

  /** The rules of the role that a binding in a namespace refers to; undefined when there is no such role. */
  rulesOf(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#index.rulesOf(ref, namespace);
  }
}

/** `ClusterRoleBinding "b" of ClusterRole "r" to Group "g"`. */
function describe({ kind, name, namespace, roleRef, subjects }: Binding, user: User): string {
  const keys = new Set(subjectKeys(user));
  const subject = subjects.find(({ key }) => keys.has(key));
  const own = quoted(namespace === "" ? name : `${name}/${namespace}`);
  return `${kind} ${own} of ${roleRef.kind} ${quoted(roleRef.name)} to ${subject?.description}`;
}

/** Several errors as one, each once: `[a, b]`. */
export function aggregate(errors: readonly Error[]): string {
  const messages = [...new Set(errors.map(({ message }) => message))];
  return messages.length === 1 ? messages[0]! : `[${messages.join(", ")}]`;
}
