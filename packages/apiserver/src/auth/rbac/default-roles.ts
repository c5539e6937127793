import { type Clock, type FieldsV1, keyOf, type ManagedFieldsEntry, stringifyJson, timestamp } from "@konverge/core";
import type { Entry } from "../../storage/entry.ts";
import type { EntryContent, Store } from "../../storage/store.ts";
import facts from "../generated/default-roles.json" with { type: "json" };
import { distinctRules } from "./distinct-rules.ts";
import { AUTO_UPDATE, reconciled } from "./reconcile-roles.ts";
import { type BindingObject, RBAC_GROUP, RBAC_RESOURCES, type RoleObject, type Subject } from "./role-objects.ts";
import type { PolicyRule } from "./rules.ts";

interface DefaultRole {
  name: string;
  labels?: Record<string, string>;
  /** The label of the roles whose rules it gathers. */
  aggregates?: string;
  rules?: PolicyRule[];
}

/** The roles and bindings that every cluster begins with, as a real server makes them; without what all have in common. */
export interface DefaultRoleFacts {
  /** The Kubernetes version they were taken from. */
  kubernetes: string;
  clusterRoles: DefaultRole[];
  clusterRoleBindings: { name: string; role: string; subjects?: Subject[] }[];
  roles: { namespace: string; name: string; rules: PolicyRule[] }[];
  roleBindings: { namespace: string; name: string; role: string; subjects: Subject[] }[];
}

const API_VERSION = `${RBAC_GROUP}/v1`;
const BOOTSTRAPPING = "kubernetes.io/bootstrapping";

/**
 * Puts those of the default roles and bindings into the store that it lacks, and adds to others what they lack. Aggregated roles (admin, edit, view) come with
 * their rules, as they look once the controller that keeps them so has run.
 */
export function ensureDefaultRoles(store: Store, clock: Clock): void {
  if (defaultKeys().every(([resource, key]) => isComplete(store.collection(resource).get(key)))) return;
  for (const [resource, objects] of defaultRoles(timestamp(clock))) {
    for (const object of objects) {
      const key = keyOf(object);
      const entry = store.collection(resource).get(key);
      const change = entry ? reconciled(entry, object) : { object, replaced: false };
      if (change?.replaced) store.remove(resource, key, () => entry!);
      const uid = entry && !change?.replaced ? entry.uid : clock.random.uuid();
      complete.add(change ? store.put(resource, key, contentOfRole(change.object, uid)) : entry!);
    }
  }
}

/** The rules of a default cluster role, whatever the store says. */
export function defaultRules(name: string): readonly PolicyRule[] {
  return (facts as DefaultRoleFacts).clusterRoles.find((role) => role.name === name)?.rules ?? [];
}

/** Servers that start from copies of one state share its entries: each is looked at once. */
const complete = new WeakSet<Entry>();

function isComplete(entry: Entry | undefined): boolean {
  return entry !== undefined && complete.has(entry);
}

function* defaultKeys(): Generator<[resource: string, key: string]> {
  const { clusterRoles, clusterRoleBindings, roles, roleBindings } = facts as DefaultRoleFacts;
  for (const { name } of clusterRoles) yield [RBAC_RESOURCES.clusterRoles, name];
  for (const { name } of clusterRoleBindings) yield [RBAC_RESOURCES.clusterRoleBindings, name];
  for (const { namespace, name } of roles) yield [RBAC_RESOURCES.roles, `${namespace}/${name}`];
  for (const { namespace, name } of roleBindings) yield [RBAC_RESOURCES.roleBindings, `${namespace}/${name}`];
}

function contentOfRole(object: RoleObject | BindingObject, uid: string): (revision: number) => EntryContent {
  return (revision) => {
    const metadata = { ...object.metadata, uid, resourceVersion: String(revision) };
    const text = stringifyJson({ ...object, metadata });
    return { text, uid, labels: metadata.labels, fields: undefined };
  };
}

/** All default roles and bindings, by collection, as they are stored but for uid and resourceVersion. */
export function defaultRoles(now: string): [resource: string, objects: (RoleObject | BindingObject)[]][] {
  const { clusterRoles, clusterRoleBindings, roles, roleBindings } = facts as DefaultRoleFacts;
  const resolved = clusterRoles.map((role): RoleObject => {
    const { name, labels, aggregates } = role;
    const object: RoleObject = { ...head("ClusterRole", name, undefined, labels), rules: rulesOf(role) };
    if (aggregates) object.aggregationRule = { clusterRoleSelectors: [{ matchLabels: { [aggregates]: "true" } }] };
    return object;
  });
  return [
    [RBAC_RESOURCES.clusterRoles, resolved.map((role) => ownedRole(role, now))],
    [
      RBAC_RESOURCES.clusterRoleBindings,
      clusterRoleBindings.map(({ name, role, subjects }) =>
        owned({ ...head("ClusterRoleBinding", name), roleRef: roleRef("ClusterRole", role), subjects }, now),
      ),
    ],
    [
      RBAC_RESOURCES.roles,
      roles.map(({ namespace, name, rules }) => owned({ ...head("Role", name, namespace), rules }, now)),
    ],
    [
      RBAC_RESOURCES.roleBindings,
      roleBindings.map(({ namespace, name, role, subjects }) =>
        owned({ ...head("RoleBinding", name, namespace), roleRef: roleRef("Role", role), subjects }, now),
      ),
    ],
  ];
}

function head(kind: string, name: string, namespace?: string, labels: Record<string, string> = {}) {
  const metadata = {
    name,
    ...(namespace !== undefined && { namespace }),
    labels: { [BOOTSTRAPPING]: "rbac-defaults", ...labels },
    annotations: { [AUTO_UPDATE]: "true" },
  };
  return { kind, apiVersion: API_VERSION, metadata };
}

function roleRef(kind: string, name: string) {
  return { apiGroup: RBAC_GROUP, kind, name };
}

/** The rules of a default role. Aggregated ones gather those of others, which may be aggregated as well: view, edit, admin. */
function rulesOf({ rules, aggregates }: DefaultRole): PolicyRule[] | null {
  if (!aggregates) return rules ?? null;
  const gathered = (facts as DefaultRoleFacts).clusterRoles
    .filter(({ labels }) => labels?.[aggregates] === "true")
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return distinctRules(gathered.flatMap((one) => rulesOf(one) ?? []));
}

function ownedRole(role: RoleObject, now: string): RoleObject {
  if (!role.aggregationRule) return owned(role, now);
  const { rules } = role;
  const object = owned({ ...role, rules: undefined }, now);
  const aggregation = ownership("clusterrole-aggregation-controller", "Apply", { "f:rules": {} }, now);
  const managedFields = [aggregation, ...(object.metadata.managedFields ?? [])];
  return { ...object, metadata: { ...object.metadata, managedFields }, rules };
}

const OWNED_WHOLE = ["roleRef", "rules", "subjects"];

function owned<T extends RoleObject | BindingObject>(object: T, now: string): T {
  const names = (fields: object) => Object.fromEntries(Object.keys(fields).map((name) => [`f:${name}`, {}]));
  const { labels = {}, annotations = {} } = object.metadata;
  const fields: FieldsV1 = {
    ...("aggregationRule" in object && { "f:aggregationRule": { ".": {}, "f:clusterRoleSelectors": {} } }),
    "f:metadata": { "f:annotations": { ".": {}, ...names(annotations) }, "f:labels": { ".": {}, ...names(labels) } },
    ...Object.fromEntries(OWNED_WHOLE.filter((name) => object[name] !== undefined).map((name) => [`f:${name}`, {}])),
  };
  const managedFields = [ownership("kube-apiserver", "Update", fields, now)];
  return { ...object, metadata: { ...object.metadata, creationTimestamp: now, managedFields } };
}

function ownership(
  manager: string,
  operation: "Apply" | "Update",
  fieldsV1: FieldsV1,
  time: string,
): ManagedFieldsEntry {
  return { manager, operation, apiVersion: API_VERSION, time, fieldsType: "FieldsV1", fieldsV1 };
}
