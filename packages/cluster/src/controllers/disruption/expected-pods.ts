import {
  controllerOf,
  isNotFound,
  type KindRef,
  type KubeObject,
  type OwnerReference,
  parseApiVersion,
  resourcePath,
} from "@konverge/core";
import { Deployment, type Pod, ReplicaSet, ReplicationController, StatefulSet } from "@konverge/kinds";
import type { ReconcileContext } from "@konverge/runtime";
import type { ServedKinds } from "../../parts/served-kinds.ts";

/** Controllers whose size is known without asking. */
export const SIZED: readonly KindRef<Sized>[] = [ReplicationController, ReplicaSet, StatefulSet, Deployment];

type Sized = KubeObject & { spec?: { replicas?: number } };

/** How many pods the controllers of some pods want, each controller once, and the pods that have none. */
export async function expectedPods(
  context: ReconcileContext,
  kinds: ServedKinds,
  pods: readonly Pod[],
): Promise<{ expected: number; unmanaged: string[] }> {
  const sizes = new Map<string, number>();
  const asked = new Set<string>();
  const unmanaged: string[] = [];
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (!owner) {
      unmanaged.push(pod.metadata.name);
      continue;
    }
    if (asked.has(owner.uid)) continue;
    const namespace = pod.metadata.namespace!;
    const found = knownSize(context, namespace, owner) ?? (await askedSize(context, kinds, namespace, owner));
    if (!found) throw new Error(`found no controllers for pod ${JSON.stringify(pod.metadata.name)}`);
    asked.add(owner.uid);
    sizes.set(found.uid, found.size);
  }
  return { expected: [...sizes.values()].reduce((sum, size) => sum + size, 0), unmanaged };
}

/** The size of a controller of Kubernetes' own; of a Deployment's ReplicaSet, that of the Deployment. */
function knownSize({ cache }: ReconcileContext, namespace: string, owner: OwnerReference) {
  const find = ({ apiVersion, kind: name, name: object, uid }: OwnerReference) => {
    const { group } = parseApiVersion(apiVersion);
    const kind = SIZED.find((one) => one.group === group && one.kind === name);
    const found = kind && cache.get(kind, `${namespace}/${object}`);
    return found?.metadata.uid === uid ? found : undefined;
  };
  const direct = find(owner);
  if (!direct) return undefined;
  const above = controllerOf(direct);
  const top = owner.kind === ReplicaSet.kind && above?.kind === Deployment.kind ? find(above) : undefined;
  const counted = top ?? direct;
  return { uid: counted.metadata.uid!, size: counted.spec?.replicas ?? 1 };
}

async function askedSize({ client }: ReconcileContext, kinds: ServedKinds, namespace: string, owner: OwnerReference) {
  const { group } = parseApiVersion(owner.apiVersion);
  const kind = kinds.byName(group, owner.kind);
  if (!kind) throw new Error(`no matches for kind ${JSON.stringify(owner.kind)} in group ${JSON.stringify(group)}`);
  try {
    const { metadata, spec } = await client.getScale(kind, `${namespace}/${owner.name}`);
    return metadata.uid === owner.uid ? { uid: owner.uid, size: spec.replicas ?? 0 } : undefined;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (await hasScale(client, kind)) return undefined;
    const resource = group === "" ? kind.plural : `${kind.plural}.${group}`;
    throw new Error(`${resource} does not implement the scale subresource`, { cause: error });
  }
}

/** Not found can mean either: the object is missing, or its kind has no scale. */
async function hasScale(client: ReconcileContext["client"], kind: KindRef<KubeObject>): Promise<boolean> {
  const path = resourcePath(kind, {}).replace(/\/[^/]+$/, "");
  const { resources } = JSON.parse(await client.request({ method: "GET", path })) as { resources: { name: string }[] };
  return resources.some(({ name }) => name === `${kind.plural}/scale`);
}
