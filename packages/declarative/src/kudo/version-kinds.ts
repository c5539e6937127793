/** The kinds of objects that plans of OperatorVersions make, as far as templates name them. */
import { groupKindText, type KindRef, type KubeObject } from "@konverge/core";
import { ConfigMap, Pod, Secret } from "@konverge/kinds";
import { guessed, kindNamesIn } from "../helm/rendered-kinds.ts";
import type { KindLookup } from "../kinds/known-kinds.ts";
import { Instance, type OperatorVersion } from "./kudo-kinds.ts";

/** What the controller of instances has to be able to make. */
export interface VersionKinds {
  readonly kinds: readonly KindRef<KubeObject>[];
  /** Pipe tasks read files of their pods. */
  readonly usesPods: boolean;
}

/** `isCluster`: kinds that the lookup does not know are not there; else they are guessed, for roles. */
export function versionKinds(
  versions: readonly OperatorVersion[],
  lookup: KindLookup,
  { isCluster }: { readonly isCluster: boolean },
): VersionKinds {
  const all = new Map<string, KindRef<KubeObject>>();
  const add = (kind: KindRef<KubeObject> | undefined) => {
    if (kind && !all.has(groupKindText(kind))) all.set(groupKindText(kind), kind);
  };
  let usesPods = false;
  for (const { spec } of versions) {
    for (const task of spec?.tasks ?? []) {
      if (task.kind === "KudoOperator") add(Instance);
      if (task.kind !== "Pipe") continue;
      usesPods = true;
      add(Pod);
      for (const { kind } of task.spec?.pipe ?? []) add(kind === "Secret" ? Secret : ConfigMap);
    }
    for (const name of kindNamesIn(spec?.templates ?? {})) {
      if (name.apiVersion.startsWith("kudo.dev/")) add(name.kind === Instance.kind ? Instance : undefined);
      else add(lookup(name.apiVersion, name.kind)?.ref ?? (isCluster ? undefined : guessed(name)));
    }
  }
  const kinds = [...all.values()].sort((a, b) => (groupKindText(a) < groupKindText(b) ? -1 : 1));
  return { kinds, usesPods };
}
