import type { KindRef, KubeObject } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { roleVerb } from "../calls/permission-remedy.ts";
import type { Controller } from "../definition/definition.ts";
import type { ApiCall } from "../observe/observer.ts";
import type { Permission } from "../rbac/access.ts";
import { isBuiltIn, schemaOf } from "../schema-of.ts";

export interface PermissionOptions {
  /** The manager's namespaces. Default: all. */
  namespaces?: readonly string[];
  /** Only Roles in these namespaces: no permissions on cluster-scoped kinds. Default: false. */
  namespaced?: boolean;
  /** The leases of leader election, if the manager uses it. */
  leaderElection?: { name: string; namespace: string };
  /** The leases of sharding, if the manager uses it. */
  sharding?: { namespace: string };
  /**
   * The cluster has the admission plugin OwnerReferencesPermissionEnforcement, as OpenShift does: blocking an owner's
   * deletion needs permission to update its finalizers. Default: false.
   */
  ownerReferencesEnforced?: boolean;
}

/** The namespace of events about objects that have none. */
const EVENTS_HOME = "default";

/** All permissions that controllers need, from what they declare: their kind, children, watches and `permissions`. */
export function controllerPermissions(
  controllers: readonly Controller[],
  options: PermissionOptions = {},
): Permission[] {
  const accesses: Permission[] = [];
  const add = (
    kind: Pick<KindRef<KubeObject>, "group" | "plural" | "namespaced">,
    verbs: readonly string[],
    { namespaces, subresource, rare, name }: Placement = {},
  ) => {
    if (options.namespaced && !kind.namespaced) return;
    const resource = subresource ? `${kind.plural}/${subresource}` : kind.plural;
    for (const namespace of (kind.namespaced ? namespaces : undefined) ?? [undefined]) {
      for (const verb of verbs) {
        const access: Permission = {
          verb,
          group: kind.group,
          resource,
          ...(namespace !== undefined && { namespace }),
          ...(name && { name }),
          ...(rare && { rare }),
        };
        if (!accesses.some((known) => same(known, access))) accesses.push(access);
      }
    }
  };
  const read = (kind: KindRef<KubeObject>, place: Placement) => {
    add(kind, ["watch"], place);
    // Only servers that cannot list by a watch are asked for a list.
    add(kind, ["list"], { ...place, rare: true });
  };
  for (const { kind, owns, finalizer, options: own, isDynamic } of withKnown(controllers)) {
    const namespaces = own.namespaces ?? options.namespaces;
    if (isDynamic && !isBuiltIn(kind)) read(CustomResourceDefinition, {});
    read(kind, { namespaces });
    add(kind, ["get"], { namespaces, rare: true });
    if (finalizer) add(kind, ["patch"], { namespaces });
    if (own.status === "whole") add(kind, ["update"], { namespaces, subresource: "status" });
    else if (hasStatus(kind)) add(kind, ["patch"], { namespaces, subresource: "status" });
    if (options.ownerReferencesEnforced && owns.length > 0) {
      add(kind, ["update"], { namespaces, subresource: "finalizers", rare: true });
    }
    for (const { kind: child, by, optional, createOnly, adopt } of owns) {
      const place = { namespaces: by === "label" && !options.namespaced ? undefined : namespaces };
      if (optional) read(CustomResourceDefinition, {});
      read(child, place);
      add(child, ["get"], { ...place, rare: true });
      // What is written in a tenant's name is the tenant's to be allowed.
      if (own.impersonate) continue;
      add(child, ["create"], place);
      if (!createOnly) add(child, ["patch"], place);
      else if (adopt === "any") add(child, ["patch"], { ...place, rare: true });
      add(child, ["delete"], { ...place, rare: true });
    }
    if (own.impersonate) add(SERVICE_ACCOUNTS, ["impersonate"], { namespaces });
    for (const { kind: other, options: need } of own.watches ?? []) {
      if (need.optional) read(CustomResourceDefinition, {});
      read(other, { namespaces: need.namespaces ?? namespaces });
    }
    for (const used of own.permissions ?? []) {
      const place = { namespaces: used.namespaces ?? namespaces, subresource: used.subresource };
      add(used.kind, used.verbs, { ...place, ...(used.forOthers && { rare: true }) });
      // A write that was not answered is looked up before the next reconcile.
      if (!used.subresource && used.verbs.some(isWrite) && !used.verbs.includes("get")) {
        add(used.kind, ["get"], { ...place, rare: true });
      }
    }
    add(EVENTS, ["create", "patch"], { namespaces: kind.namespaced ? namespaces : [EVENTS_HOME], rare: true });
  }
  const { leaderElection, sharding } = options;
  if (leaderElection) {
    // A creation cannot be restricted to a name.
    add(LEASES, ["create"], { namespaces: [leaderElection.namespace] });
    add(LEASES, ["get", "update"], { namespaces: [leaderElection.namespace], name: leaderElection.name });
  }
  if (sharding) add(LEASES, ["get", "list", "create", "update", "delete"], { namespaces: [sharding.namespace] });
  return accesses;
}

/** The controllers, and those that their reconcilers are known to return. */
function withKnown(controllers: readonly Controller[]): (Controller & { isDynamic?: boolean })[] {
  return controllers.flatMap((one) => {
    const known = withKnown(one.options.knownControllers ?? []);
    return [one, ...known.map((dynamic) => ({ ...dynamic, isDynamic: true }))];
  });
}

/** Whether a controller declares the permission for a call, in whichever namespaces. */
export function isDeclared(definition: Controller, call: ApiCall): boolean {
  const { kind, subresource } = call;
  const resource = subresource ? `${kind.plural}/${subresource}` : kind.plural;
  const verb = roleVerb(call);
  return controllerPermissions([definition]).some(
    (one) => one.verb === verb && one.group === kind.group && one.resource === resource,
  );
}

interface Placement {
  namespaces?: readonly string[];
  subresource?: string;
  rare?: boolean;
  name?: string;
}

/** Who else is to be impersonated, users and groups, cannot be known from a function: that takes a rule by hand. */
const SERVICE_ACCOUNTS = { group: "", plural: "serviceaccounts", namespaced: true };
const EVENTS = { group: "", plural: "events", namespaced: true };
const LEASES = { group: "coordination.k8s.io", plural: "leases", namespaced: true };

const isWrite = (verb: string) => !["get", "list", "watch"].includes(verb);

/** Of a kind without a schema it is not known. */
function hasStatus(kind: KindRef<KubeObject>): boolean {
  const schema = schemaOf(kind);
  return schema === undefined || schema.properties?.["status"] !== undefined;
}

const same = (a: Permission, b: Permission) =>
  a.verb === b.verb &&
  a.group === b.group &&
  a.resource === b.resource &&
  a.namespace === b.namespace &&
  a.name === b.name;
