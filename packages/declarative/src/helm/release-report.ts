/** The status and conditions of a release. Pure. */
import { type Conditions, conditionFalse, conditionTrue, type KubeObject } from "@konverge/core";
import type { ChildrenOutcome, ReportedStatus } from "@konverge/runtime";
import type { Rendered } from "./engine/rendered.ts";
import type { ExistingObjects, ReleasePlan } from "./plan-release.ts";
import type { Release, ReleaseState } from "./release-state.ts";
import { identity } from "./rendered-objects.ts";

/** Longer messages of conditions are refused. */
const LONGEST = 32_000;

/** What a release's status has. */
export function statusOf(name: string, release: ReleaseState): ReportedStatus<Release> {
  return { ...(release.deployedRevision !== undefined && { deployedRelease: { name } }), release };
}

/** The conditions that go with a plan. Those of a deployed release follow from its objects. */
export function planConditions({ state, waitsFor }: ReleasePlan, notes: string): Conditions {
  const initialized = { Initialized: conditionTrue("Initialized"), Irreconcilable: undefined };
  if (state.phase === "failed") {
    const message = state.failure ?? "a hook failed";
    return {
      ...initialized,
      ReleaseFailed: conditionTrue(state.operation === "install" ? "InstallError" : "UpgradeError", message),
      Ready: conditionFalse("HookFailed", message),
      Progressing: conditionFalse("HookFailed"),
      Degraded: conditionTrue("HookFailed", message),
    };
  }
  if (waitsFor !== undefined) {
    const message = `waits for ${waitsFor}`;
    return {
      ...initialized,
      ReleaseFailed: undefined,
      Ready: conditionFalse("RunningHooks", message),
      Progressing: conditionTrue("RunningHooks", message),
      Degraded: conditionFalse("RunningHooks"),
    };
  }
  if (state.phase !== "deployed") return { ...initialized, ReleaseFailed: undefined };
  const reason = state.operation === "install" ? "InstallSuccessful" : "UpgradeSuccessful";
  return { ...initialized, ReleaseFailed: undefined, Deployed: conditionTrue(reason, notes.trim().slice(0, LONGEST)) };
}

/** The conditions of a release that cannot be rendered: what there is of it stays. */
export function refusedConditions(message: string): Conditions {
  const text = message.trim().slice(0, LONGEST);
  return {
    Irreconcilable: conditionTrue("ReconcileError", text),
    Ready: conditionFalse("RenderFailed", text),
    Progressing: conditionFalse("RenderFailed"),
    Degraded: conditionTrue("RenderFailed", text),
  };
}

/** The conditions of a release of which the API server has refused objects, with the templates that render them. */
export function refusalConditions(
  { refused }: ChildrenOutcome,
  rendered: Rendered,
  { operation }: ReleaseState,
): Conditions {
  const documents = [...rendered.manifests, ...rendered.hooks];
  const sourceOf = (child: KubeObject) =>
    documents.find(({ objects }) => objects.some((object) => identity(object) === identity(child)))?.path;
  const message = refused
    .map(({ child, message }) => `${sourceOf(child) ?? child.kind}: ${message}`)
    .join("; ")
    .slice(0, LONGEST);
  return {
    ReleaseFailed: conditionTrue(operation === "install" ? "InstallError" : "UpgradeError", message),
    Ready: conditionFalse("ObjectRefused", message),
    Progressing: conditionFalse("ObjectRefused"),
    Degraded: conditionTrue("ObjectRefused", message),
  };
}

/** Whether all children of a plan exist, after it has been applied. */
export function areApplied(
  { children }: ReleasePlan,
  existing: ExistingObjects,
  { created, refused }: ChildrenOutcome,
): boolean {
  if (refused.length > 0) return false;
  const made = new Set(created.map(identity));
  const exists = (object: KubeObject) => existing.of(object) !== undefined || made.has(identity(object));
  return children.every(({ draft, options }) => options.unchanged === true || exists(draft));
}
