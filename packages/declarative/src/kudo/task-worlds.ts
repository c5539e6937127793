/** What tasks see of the cluster: with a reconcile, whose children the runtime applies, and while an instance is deleted. */
import { type AnyObject, isNotFound, type KindRef, type KubeObject, keyOf } from "@konverge/core";
import type { ReconcileContext } from "@konverge/runtime";
import type { Instance } from "./kudo-kinds.ts";
import type { ExecInPod } from "./pipe-task.ts";
import type { TaskWorld } from "./run-task.ts";

/** Objects in the instance's namespace are its children. */
export function reconciledWorld(context: ReconcileContext): TaskWorld {
  const { client, observed } = context;
  const child = (kind: KindRef<KubeObject>, { metadata }: KubeObject) =>
    kind.namespaced ? observed(kind, metadata.name!) : undefined;
  return {
    find: async (kind, object) => child(kind, object) ?? (await live(kind, object, context)),
    async apply(kind, draft) {
      if (kind.namespaced) return;
      // Direct write: an object without a namespace cannot belong to an instance, and stays when it is deleted, as with KUDO.
      await client.apply(kind as KindRef<AnyObject>, draft as AnyObject, { force: true });
    },
    async delete(kind, object) {
      if (!child(kind, object)) await deleted(kind, object, context);
    },
    ...common(context),
  };
}

/** An instance that is deleted has no children any more that the runtime applies. */
export function directWorld(instance: Instance, context: ReconcileContext): TaskWorld {
  const { apiVersion, kind, metadata } = instance;
  const owner = {
    apiVersion,
    kind,
    name: metadata.name!,
    uid: metadata.uid!,
    controller: true,
    blockOwnerDeletion: true,
  };
  return {
    find: (kind, object) => live(kind, object, context),
    async apply(kind, draft) {
      const owned = { ...draft, metadata: { ...draft.metadata, ...(kind.namespaced && { ownerReferences: [owner] }) } };
      // Direct write: children are not applied while their object is deleted.
      await context.client.apply(kind as KindRef<AnyObject>, owned as AnyObject, { force: true });
    },
    delete: (kind, object) => deleted(kind, object, context),
    ...common(context),
  };
}

function common({ client, clock, callExternal }: ReconcileContext): Pick<TaskWorld, "exec" | "now" | "isServed"> {
  return {
    exec: (...call) => executed(callExternal, client, ...call),
    now: () => clock.now(),
    isServed: async (object) => {
      try {
        return (await client.mapper.resolve(object)) !== undefined;
      } catch {
        return false;
      }
    },
  };
}

/** Recorded as text, so that a replay does not need the pod. */
async function executed(
  callExternal: ReconcileContext["callExternal"],
  client: ReconcileContext["client"],
  ...[key, container, command]: Parameters<ExecInPod>
) {
  const { code, output } = await callExternal(`${key} ${command.join(" ")}`, async () => {
    const process = await client.exec(key, command, { container });
    const parts: Uint8Array[] = [];
    for await (const part of process.stdout) parts.push(part);
    return { code: await process.exitCode, output: Buffer.concat(parts).toString("base64") };
  });
  return { code, output: new Uint8Array(Buffer.from(output, "base64")) };
}

async function live(kind: KindRef<KubeObject>, object: KubeObject, { client }: ReconcileContext) {
  try {
    return await client.get(kind, keyOf(object));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function deleted(kind: KindRef<KubeObject>, object: KubeObject, { client }: ReconcileContext): Promise<void> {
  try {
    // Direct write: the object is no child of the instance.
    await client.delete(kind, keyOf(object), { propagationPolicy: "Foreground" });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
