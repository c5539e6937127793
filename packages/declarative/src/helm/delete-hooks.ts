/** The hooks that run before a release is deleted. */
import { type AnyObject, isAlreadyExists, isNotFound, type KindRef, type KubeObject, keyOf } from "@konverge/core";
import type { PendingCleanup, ReconcileContext } from "@konverge/runtime";
import { RenderError, type Rendered } from "./engine/rendered.ts";
import { hookDraft, hookProgress, hooksFor } from "./hooks.ts";
import type { ReleaseState } from "./release-state.ts";
import { withoutNulls } from "./rendered-objects.ts";

/** How often it is read how a hook is getting on. */
const PERIOD = 2_000;

/**
 * Runs the `pre-delete` hooks one after the other. Their objects are no children, which would be deleted with the others. A release
 * that cannot be rendered any more, or whose hook fails, is deleted nevertheless: it must not stay forever.
 */
export async function runDeleteHooks(
  state: ReleaseState,
  kinds: (object: KubeObject) => KindRef<AnyObject>,
  render: () => Promise<Rendered>,
  { client, events, log }: ReconcileContext,
): Promise<PendingCleanup | undefined> {
  const rendered = await renderedOrNothing(render, log);
  for (const hook of hooksFor(rendered?.hooks ?? [], "pre-delete")) {
    const draft = hookDraft({ ...hook, object: withoutNulls(hook.object) }, state);
    const kind = kinds(draft);
    const progress = hookProgress(await liveOf(kind, draft, client), state);
    if (progress === "absent" || progress === "outdated") {
      // Direct write: children are deleted at this time.
      if (progress === "outdated") await client.delete(kind, keyOf(draft), { propagationPolicy: "Background" });
      else await createOnce(kind, draft, client);
      if (progress === "outdated" || draft.kind === "Job" || draft.kind === "Pod") {
        return { waitingFor: `the hook ${hook.id}`, requeueAfter: PERIOD };
      }
    }
    if (progress === "running") return { waitingFor: `the hook ${hook.id}`, requeueAfter: PERIOD };
    if (typeof progress === "object") {
      events.warning("HookFailed", `${hook.id}: ${progress.failed}; the release is deleted nevertheless`, {
        action: "Cleanup",
      });
    }
  }
  return undefined;
}

async function renderedOrNothing(render: () => Promise<Rendered>, log: ReconcileContext["log"]) {
  try {
    return await render();
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    log.warn(
      { error: error.message },
      "the release is deleted without its pre-delete hooks: its chart cannot be rendered",
    );
    return undefined;
  }
}

async function liveOf(kind: KindRef<AnyObject>, draft: KubeObject, client: ReconcileContext["client"]) {
  try {
    return await client.get(kind, keyOf(draft));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function createOnce(
  kind: KindRef<AnyObject>,
  draft: KubeObject,
  client: ReconcileContext["client"],
): Promise<void> {
  try {
    await client.create(kind, draft as AnyObject);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
