/** The hooks of a release: which there are for an operation, which runs now, and which objects they leave. Pure. */
import type { KubeObject } from "@konverge/core";
import type { RenderedHook } from "./engine/rendered.ts";
import type { ReleaseState } from "./release-state.ts";

/** Says for which revision a hook has been created: one of an earlier revision is deleted before it runs again. */
export const HOOK_REVISION = "helm.konverge.dev/hook-revision";

/** One object of a hook. */
export interface HookObject {
  readonly id: string;
  readonly object: KubeObject;
  readonly hook: RenderedHook;
}

/** What has become of a hook. */
export type HookProgress = "absent" | "outdated" | "running" | "succeeded" | { readonly failed: string };

/** The hooks of an event, such as `pre-install`, in the order in which they run. */
export function hooksFor(hooks: readonly RenderedHook[], event: string): HookObject[] {
  return hooks
    .filter(({ events }) => events.includes(event))
    .map((hook, i) => ({ hook, i }))
    .sort((a, b) => a.hook.weight - b.hook.weight || a.i - b.i)
    .flatMap(({ hook }) =>
      hook.objects.map((object) => ({ id: `${event} ${object.kind}/${object.metadata.name}`, object, hook })),
    );
}

/** The state of a hook's object. Only Jobs and pods take time. */
export function hookProgress(live: KubeObject | undefined, { revision }: ReleaseState): HookProgress {
  if (!live) return "absent";
  const runs = live.kind === "Job" || live.kind === "Pod";
  if (runs && live.metadata.annotations?.[HOOK_REVISION] !== `${revision}`) return "outdated";
  if (!runs) return "succeeded";
  return live.kind === "Job" ? jobProgress(live) : podProgress(live);
}

function jobProgress(job: KubeObject): HookProgress {
  const { conditions = [] } = (job as { status?: { conditions?: readonly Record<string, string>[] } }).status ?? {};
  const holds = (type: string) => conditions.find((one) => one["type"] === type && one["status"] === "True");
  const failed = holds("Failed");
  if (failed) return { failed: `Job ${job.metadata.name}: ${failed["message"] || failed["reason"]}` };
  return holds("Complete") ? "succeeded" : "running";
}

function podProgress(pod: KubeObject): HookProgress {
  const { phase, message } = (pod as { status?: { phase?: string; message?: string } }).status ?? {};
  if (phase === "Failed") return { failed: `Pod ${pod.metadata.name}: ${message ?? "a container failed"}` };
  return phase === "Succeeded" ? "succeeded" : "running";
}

/** The object of a hook as it is created. */
export function hookDraft({ object }: HookObject, { revision }: ReleaseState): KubeObject {
  const annotations = { ...object.metadata.annotations, [HOOK_REVISION]: `${revision}` };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Whether the object of a hook stays after this end. Without a policy, until the hook runs again. */
export function staysAfter({ hook }: HookObject, end: "succeeded" | "failed"): boolean {
  return !hook.deletePolicies.includes(`hook-${end}`);
}

/** Whether an object works until it has ended: it is not created again once it has. */
export function runsOnce({ object }: HookObject): boolean {
  return object.kind === "Job" || object.kind === "Pod";
}
