import { type Client, metadataOnly } from "@konverge/client";
import { isNotFound, type KubeObject } from "@konverge/core";
import { Pod } from "@konverge/kinds";
import type { ServedKind } from "../../parts/served-kinds.ts";

/** What is left in a namespace after an attempt to delete all of it. */
export interface Remains {
  /** How many objects of each resource (`pods.`, `deployments.apps`) are still there. */
  readonly resources: ReadonlyMap<string, number>;
  /** How many objects each finalizer holds. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Seconds after which to retry; 0 if nothing remains. */
  readonly estimate: number;
  readonly errors: readonly string[];
}

/** The retry delay while finalizers hold objects, in seconds. */
const FINALIZER_ESTIMATE = 15;

/** Deletes all objects of a namespace: the pods first, everything else once they are deleted. */
export async function deleteContents(
  client: Client,
  kinds: readonly ServedKind[],
  namespace: string,
): Promise<Remains> {
  const resources = new Map<string, number>();
  const finalizers = new Map<string, number>();
  const errors: string[] = [];
  let estimate = 0;
  const visit = async (kind: ServedKind) => {
    try {
      const grace = isPod(kind) ? await longestGrace(client, namespace) : 0;
      const left = await deleteAll(client, kind, namespace);
      if (left.length === 0) return;
      resources.set(`${kind.plural}.${kind.group}`, left.length);
      for (const { metadata } of left) {
        for (const finalizer of metadata.finalizers ?? []) {
          finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
        }
      }
      estimate = Math.max(estimate, grace, left.some(({ metadata }) => metadata.finalizers) ? FINALIZER_ESTIMATE : 1);
    } catch (error) {
      errors.push(error instanceof Error ? error.message : String(error));
    }
  };
  const contained = kinds.filter(({ namespaced, verbs }) => namespaced && verbs.includes("delete"));
  const pods = contained.find(isPod);
  if (pods) await visit(pods);
  if (resources.size === 0 && errors.length === 0) {
    for (const kind of contained) if (!isPod(kind)) await visit(kind);
  }
  return { resources, finalizers, estimate, errors };
}

const isPod = ({ group, plural }: ServedKind): boolean => group === Pod.group && plural === Pod.plural;

async function longestGrace(client: Client, namespace: string): Promise<number> {
  const { items } = await client.list(Pod, { namespace });
  const running = items.filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
  return Math.max(0, ...running.map(({ spec }) => spec?.terminationGracePeriodSeconds ?? 0));
}

/** Deletes the objects of a kind, and returns those that are still there. */
async function deleteAll(client: Client, kind: ServedKind, namespace: string): Promise<readonly KubeObject[]> {
  const list = async () => (await client.list(metadataOnly(kind), { namespace })).items;
  const before = await list();
  if (before.length === 0) return [];
  if (kind.verbs.includes("deletecollection")) {
    // Direct writes: everything in a terminating namespace is deleted, no matter which controller owns it.
    await client.deleteCollection(kind, { namespace, propagationPolicy: "Background" });
  } else {
    for (const { metadata } of before) {
      await client.delete(kind, `${namespace}/${metadata.name}`, { propagationPolicy: "Background" }).catch((error) => {
        if (!isNotFound(error)) throw error;
      });
    }
  }
  return list();
}
