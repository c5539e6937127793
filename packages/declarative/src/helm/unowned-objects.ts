/** Objects that stay when their release is deleted, and so are no children. */
import {
  type AnyObject,
  groupKindText,
  isNotFound,
  type KindRef,
  type KubeObject,
  keyOf,
  parseApiVersion,
} from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { isApplied, type ReconcileContext } from "@konverge/runtime";
import type { HelmChart } from "./helm-chart.ts";

/** As Helm: what is in `crds/` is installed where it is missing, and never changed. `installed` has the names of those found. */
export async function installDefinitions(
  { crds }: HelmChart,
  installed: Set<string>,
  { client }: ReconcileContext,
): Promise<void> {
  for (const definition of crds.flatMap(({ objects }) => objects)) {
    const name = definition.metadata.name!;
    if (installed.has(name)) continue;
    if (!(await live(CustomResourceDefinition, name, client))) {
      // Direct write: a definition that is deleted takes all objects of its kind with it.
      await client.create(CustomResourceDefinition, definition as CustomResourceDefinition);
    }
    installed.add(name);
  }
}

/** Applies the objects with the policy `keep`. */
export async function applyKept(
  kept: readonly KubeObject[],
  kinds: readonly KindRef<KubeObject>[],
  { client }: ReconcileContext,
): Promise<void> {
  for (const object of kept) {
    const name = groupKindText({ group: parseApiVersion(object.apiVersion).group, kind: object.kind });
    const kind = kinds.find((one) => groupKindText(one) === name) as KindRef<AnyObject>;
    if (isApplied(kind, object, await live(kind, keyOf(object), client))) continue;
    // Direct write: children are deleted with their release.
    await client.apply(kind, object as AnyObject, { force: true });
  }
}

async function live(
  kind: KindRef<KubeObject>,
  key: string,
  client: ReconcileContext["client"],
): Promise<KubeObject | undefined> {
  try {
    return await client.get(kind, key);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
