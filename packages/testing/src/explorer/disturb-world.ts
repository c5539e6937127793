import { type AnyObject, isNotFound, sleep } from "@konverge/core";
import type { Fault, FaultTarget } from "./fault.ts";
import type { World } from "./world.ts";

/** A fault that another client or the cluster brings about. */
type WorldFault = Extract<Fault, { type: "delete" | "edit" | "crd update" | "node lost" }>;

const MERGE = "application/merge-patch+json";

/** How long a client waits until an object is gone that it wants to create again, and how often it tries. */
const RECREATE = { everyMs: 200, tries: 600 };

/** With its dependents: the API server's own default leaves the pods of a Job behind, which no operator can help. */
const DELETED_AS_KUBECTL_DOES = { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Background" };

/** Lets a fault happen that is not a fault of the operator's connection. What does not exist any more is not disturbed. */
export async function disturbWorld(fault: WorldFault, world: World): Promise<void> {
  try {
    switch (fault.type) {
      case "delete":
        return await remove(fault, world);
      case "edit":
        return await edit(fault, world);
      case "crd update": {
        const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${fault.crd}`;
        const body = { metadata: { annotations: { "example.com/updated": "yes" } } };
        await world.client.request({ method: "PATCH", path, body, contentType: MERGE });
        return;
      }
      case "node lost":
        return await loseNode(world);
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function remove({ target, recreate }: Extract<Fault, { type: "delete" }>, world: World): Promise<void> {
  const path = pathOf(target, world);
  const before = JSON.parse(await world.client.request({ method: "GET", path })) as AnyObject;
  if (target.plural === "persistentvolumeclaims" && (await isUsed(target.name, world))) return;
  await world.client.request({ method: "DELETE", path, body: DELETED_AS_KUBECTL_DOES });
  if (!recreate || (await isCreatedAgain(before, path, world))) return;
  // Not awaited: the operator may have to release it first, and it waits for this.
  void createLater(before, path, world);
}

/** A claim that pods use stays, marked as deleted, for as long as they run: no operator can create it again. */
async function isUsed(claim: string, world: World): Promise<boolean> {
  return (await podsOf(world)).some(({ spec }) =>
    spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === claim),
  );
}

async function createLater(before: AnyObject, path: string, world: World): Promise<void> {
  for (let i = 0; i < RECREATE.tries; i++) {
    await sleep(world.clock, RECREATE.everyMs);
    if (await isCreatedAgain(before, path, world)) return;
  }
}

async function isCreatedAgain(before: AnyObject, path: string, { client }: World): Promise<boolean> {
  const { name, namespace, labels, annotations } = before.metadata;
  const { status: _, ...rest } = before;
  const body = { ...rest, metadata: { name, namespace, labels, annotations } };
  try {
    await client.request({ method: "POST", path: path.slice(0, path.lastIndexOf("/")), body });
    return true;
  } catch {
    return false;
  }
}

async function edit({ target, pointer, value, back }: Extract<Fault, { type: "edit" }>, world: World): Promise<void> {
  const path = pathOf(target, world);
  const before = JSON.parse(await world.client.request({ method: "GET", path })) as AnyObject;
  const previous = valueAt(before, pointer);
  if (pointer.startsWith("/metadata/annotations/") && !before.metadata.annotations) {
    const annotations = { metadata: { annotations: { [lastStep(pointer)]: value } } };
    await world.client.request({ method: "PATCH", path, body: annotations, contentType: MERGE });
    return;
  }
  const patch = async (to: unknown) => {
    const operation = to === undefined ? { op: "remove", path: pointer } : { op: "add", path: pointer, value: to };
    await world.client.request({
      method: "PATCH",
      path,
      body: [operation],
      contentType: "application/json-patch+json",
    });
  };
  await patch(value).catch((error: unknown) => {
    // An edit that the API server rejects does not happen.
    if ((error as { code?: number }).code !== 422) throw error;
  });
  if (back) await patch(previous);
}

async function loseNode(world: World): Promise<void> {
  const node = (await podsOf(world)).find(({ spec }) => spec?.nodeName)?.spec?.nodeName;
  if (node) await world.client.request({ method: "DELETE", path: `/api/v1/nodes/${node}` });
}

interface ListedPod {
  readonly spec?: {
    readonly nodeName?: string;
    readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[];
  };
}

async function podsOf({ client, namespace }: World): Promise<readonly ListedPod[]> {
  const text = await client.request({ method: "GET", path: `/api/v1/namespaces/${namespace}/pods` });
  return (JSON.parse(text) as { items: ListedPod[] }).items;
}

function pathOf({ group, version, plural, name }: FaultTarget, { namespace }: World): string {
  return `${group === "" ? "/api" : `/apis/${group}`}/${version}/namespaces/${namespace}/${plural}/${name}`;
}

/** The name that a pointer ends with. */
function lastStep(pointer: string): string {
  return pointer
    .slice(pointer.lastIndexOf("/") + 1)
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
}

function valueAt(object: unknown, pointer: string): unknown {
  const steps = pointer.split("/").slice(1);
  return steps.reduce<unknown>((value, step) => {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  }, object);
}
