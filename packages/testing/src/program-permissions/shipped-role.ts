import { readFileSync } from "node:fs";
import type { KubeObject } from "@konverge/core";
import type { PolicyRule } from "@konverge/kinds";
import { parseYaml } from "@konverge/schema";

const RBAC = "rbac.authorization.k8s.io";

/** The roles that an operator is published with. */
export interface ShippedRole {
  /** Roles and bindings, ready to be applied. */
  readonly objects: readonly KubeObject[];
  readonly rules: readonly ShippedRule[];
  readonly account: ServiceAccountName;
}

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

/** One rule, with where it is. */
export interface ShippedRule {
  /** `ClusterRole flagger, rule 3`. */
  readonly place: string;
  readonly rule: PolicyRule;
}

/** Roles that cannot be compared. */
export class ShippedRoleError extends Error {
  override readonly name = "ShippedRoleError";
  readonly code = "KONVERGE_SHIPPED_ROLE";
}

interface Binding extends KubeObject {
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
  readonly roleRef: { readonly kind: string; readonly name: string };
}

/**
 * Reads roles and bindings from files; other objects in them are skipped. The account is that of the bindings, or the one that is
 * named. Roles without a binding are bound to it, as a chart would do.
 */
export function readShippedRole(files: readonly string[], home: string, named?: ServiceAccountName): ShippedRole {
  const all = files.flatMap((file) => rolesIn(file));
  const isRole = ({ kind }: KubeObject) => kind === "ClusterRole" || kind === "Role";
  const roles = all.filter(isRole);
  if (roles.length === 0)
    throw new ShippedRoleError(
      `there is no ClusterRole and no Role in ${files.join(", ")}: name the files that have the operator's roles`,
    );
  const bindings = all.filter((one): one is Binding => !isRole(one));
  const account = named ?? accountOf(bindings) ?? { namespace: home, name: "explored-operator" };
  const bound = bindings.filter((binding) => binds(binding, account));
  const unbound = roles.filter((role) => !bindings.some(({ roleRef }) => refersTo(roleRef, role)));
  const chosen = roles.filter((role) => unbound.includes(role) || bound.some(({ roleRef }) => refersTo(roleRef, role)));
  return {
    objects: [...chosen, ...bound, ...unbound.map((role) => bindingOf(role, account))],
    rules: chosen.flatMap((role) =>
      ((role as { rules?: PolicyRule[] }).rules ?? []).map((rule, i) => ({
        place: `${role.kind} ${role.metadata.name}, rule ${i + 1}`,
        rule,
      })),
    ),
    account,
  };
}

function rolesIn(file: string): KubeObject[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new ShippedRoleError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  if (/^[^#\n]*\{\{/m.test(text))
    throw new ShippedRoleError(`${file} is a template of a chart: render it first, such as with helm template`);
  try {
    return (parseYaml(text) as KubeObject[]).filter(({ apiVersion }) => apiVersion?.startsWith(`${RBAC}/`));
  } catch (error) {
    throw new ShippedRoleError(`${file}: ${(error as Error).message}`, { cause: error });
  }
}

function accountOf(bindings: readonly Binding[]): ServiceAccountName | undefined {
  const accounts = new Map<string, ServiceAccountName>();
  for (const { subjects = [], metadata } of bindings) {
    for (const { kind, name, namespace = metadata.namespace ?? "default" } of subjects)
      if (kind === "ServiceAccount") accounts.set(`${namespace}/${name}`, { namespace, name });
  }
  if (accounts.size > 1)
    throw new ShippedRoleError(
      `the roles are bound to ${[...accounts.keys()].join(" and ")}: name one with --service-account NAMESPACE/NAME`,
    );
  return [...accounts.values()][0];
}

function binds({ subjects = [], metadata }: Binding, account: ServiceAccountName): boolean {
  return subjects.some(
    ({ kind, name, namespace = metadata.namespace ?? "default" }) =>
      kind === "ServiceAccount" && name === account.name && namespace === account.namespace,
  );
}

const refersTo = (ref: Binding["roleRef"], role: KubeObject) =>
  ref.kind === role.kind && ref.name === role.metadata.name;

function bindingOf(role: KubeObject, account: ServiceAccountName): KubeObject {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: `${role.kind}Binding`,
    metadata: role.metadata.namespace
      ? { name: role.metadata.name, namespace: role.metadata.namespace }
      : { name: role.metadata.name },
    roleRef: { apiGroup: RBAC, kind: role.kind!, name: role.metadata.name },
    subjects: [{ kind: "ServiceAccount", ...account }],
  } as KubeObject;
}
