/** The controller of instances: what it owns, reads and may do. */
import { groupKindText, type KindRef, type KubeObject, parseApiVersion } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import {
  type Controller,
  controller,
  ownedKind,
  type PermissionDeclaration,
  permission,
  watchKind,
} from "@konverge/runtime";
import { builtinKind } from "../kinds/known-kinds.ts";
import { runCleanup } from "./cleanup-plan.ts";
import { InstanceReconciler } from "./instance-reconciler.ts";
import { Instance, OperatorVersion, operatorVersionKey } from "./kudo-kinds.ts";
import { TaskDrafts } from "./task-drafts.ts";
import { TaskEngine } from "./task-engine.ts";
import { HERITAGE } from "./task-metadata.ts";
import type { VersionKinds } from "./version-kinds.ts";

const FINALIZER = "kudo.dev/instance-cleanup";

/** What the controller of instances is made for. */
export interface InstanceControllerOptions extends VersionKinds {
  /** The keys of the OperatorVersions that have a plan for deletion. */
  readonly cleaning: ReadonlySet<string>;
  readonly engine?: TaskEngine;
}

/** The controller of instances whose plans make objects of these kinds. */
export function instanceController({
  kinds,
  usesPods,
  cleaning,
  engine = new TaskEngine(),
}: InstanceControllerOptions): Controller {
  const known = new Map(kinds.map((kind) => [groupKindText(kind), kind]));
  const drafts = new TaskDrafts(engine, (object) => {
    const kind = known.get(groupKindText({ group: parseApiVersion(object.apiVersion).group, kind: object.kind }));
    const isServed =
      kind &&
      (parseApiVersion(object.apiVersion).version === kind.version || builtinKind(object.apiVersion, object.kind));
    return isServed ? kind : undefined;
  });
  const children = kinds.filter(({ namespaced }) => namespaced);
  const instances = new InstanceReconciler(drafts, children);
  return controller(Instance, {
    owns: children.map((kind) =>
      ownedKind(kind, {
        adopt: "any",
        ...(groupKindText(kind) !== groupKindText(Instance) && { labelSelector: HERITAGE }),
        ...(isOptional(kind) && { optional: true }),
      }),
    ),
    watches: [watchKind(OperatorVersion, { references: (instance: Instance) => referencesOf(instance) })],
    permissions: permissionsOf(kinds, usesPods),
    finalizer: FINALIZER,
    needsCleanup: (instance) => cleaning.has(operatorVersionKey(instance)),
    reconcile: (instance, context) => instances.reconcile(instance, context) as never,
    cleanup: (instance, context) => runCleanup(instance, drafts, context),
  });
}

/** The versions that an instance is made from: the one that it has, and those of plans that have run. */
function referencesOf(instance: Instance): string[] {
  const earlier = Object.values(instance.status?.executions ?? {}).flatMap(
    ({ operatorVersion }) => operatorVersion ?? [],
  );
  return [...new Set([operatorVersionKey(instance), ...earlier])];
}

function permissionsOf(kinds: readonly KindRef<KubeObject>[], usesPods: boolean): PermissionDeclaration[] {
  const clusterWide = kinds.filter(({ namespaced }) => !namespaced);
  return [
    permission(Instance, ["patch"], { why: "schedules plans" }),
    ...clusterWide.map((kind) =>
      permission(kind, ["get", "create", "patch", "delete"], { why: "tasks apply and delete it" }),
    ),
    ...(usesPods
      ? [permission(Pod, ["create"], { subresource: "exec", why: "pipe tasks read files of their pods" })]
      : []),
  ];
}

/** Kinds that have a definition may go; Kubernetes' own do not. */
function isOptional({ group, version, kind }: KindRef<KubeObject>): boolean {
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return builtinKind(apiVersion, kind) === undefined && group !== Instance.group;
}
