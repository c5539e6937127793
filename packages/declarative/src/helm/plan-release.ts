/** Decides which objects a release has now: hooks of its operation one after the other, then the rest. Pure. */
import type { KubeObject } from "@konverge/core";
import { type Child, type PlannedChild, plannedChild } from "@konverge/runtime";
import type { Rendered } from "./engine/rendered.ts";
import { type HookObject, hookDraft, hookProgress, hooksFor, runsOnce, staysAfter } from "./hooks.ts";
import type { ReleaseState } from "./release-state.ts";
import { identity, renderedObjects, withoutNulls } from "./rendered-objects.ts";

/** What there is of a release. */
export interface ExistingObjects {
  /** The child that an object is, or will be. */
  of(object: KubeObject): KubeObject | undefined;
  /** All children. */
  all(): readonly KubeObject[];
}

/** What is to be done for a release now. */
export interface ReleasePlan {
  readonly children: readonly PlannedChild[];
  /** Objects that are applied, but not deleted with the release. */
  readonly kept: readonly KubeObject[];
  readonly state: ReleaseState;
  /** The state once all children have been applied. */
  readonly applied?: ReleaseState;
  /** What it waits for. */
  readonly waitsFor?: string;
}

/** How the hooks of an event are getting on. */
interface HookRun {
  readonly children: readonly PlannedChild[];
  readonly succeeded: readonly string[];
  readonly waitsFor?: string;
  readonly failure?: string;
}

/** `recreate`: delete and create again what has an immutable field that differs. */
export function planRelease(
  rendered: Rendered,
  state: ReleaseState,
  existing: ExistingObjects,
  { recreate = false }: { readonly recreate?: boolean } = {},
): ReleasePlan {
  const [before, after] = [`pre-${state.operation}`, `post-${state.operation}`].map((event) =>
    hooksFor(rendered.hooks, event),
  ) as [HookObject[], HookObject[]];
  const { children, kept } = renderedObjects(rendered);
  const main = planned(children, recreate);
  const whole = (...hooks: readonly PlannedChild[][]) =>
    withoutTwins([...main, ...hooks.flat(), ...leftovers(rendered, [...before, ...after], existing)]);

  const first = runHooks(before, state, existing);
  const inFirst = { ...state, hooks: first.succeeded };
  if (first.failure !== undefined || first.waitsFor !== undefined) {
    const held = heldBack(existing, [...before, ...after]);
    return { children: withoutTwins([...first.children, ...held]), kept: [], ...ended(inFirst, first) };
  }
  if (state.phase === "pre-hooks" || state.phase === "apply") {
    const applying: ReleaseState = { ...inFirst, phase: "apply" };
    const applied = after.length > 0 ? { ...applying, phase: "post-hooks" as const } : deployed(applying);
    return { children: whole([...first.children]), kept, state: applying, applied };
  }
  const last = runHooks(after, inFirst, existing);
  const inLast = { ...inFirst, hooks: last.succeeded };
  const all = whole([...first.children], [...last.children]);
  if (last.failure !== undefined || last.waitsFor !== undefined) return { children: all, kept, ...ended(inLast, last) };
  return { children: all, kept, state: deployed(inLast) };
}

function deployed(state: ReleaseState): ReleaseState {
  const { failure: _, ...rest } = state;
  return { ...rest, phase: "deployed", deployedRevision: state.revision };
}

function ended(state: ReleaseState, { failure, waitsFor }: HookRun): Pick<ReleasePlan, "state" | "waitsFor"> {
  if (failure !== undefined) return { state: { ...state, phase: "failed", failure } };
  return { state, waitsFor: waitsFor! };
}

/**
 * The next hook starts when the one before it has succeeded. That a hook has succeeded is stored before its object is deleted:
 * otherwise a crash in between would run it twice.
 */
function runHooks(hooks: readonly HookObject[], state: ReleaseState, existing: ExistingObjects): HookRun {
  const children: PlannedChild[] = [];
  const succeeded = new Set(state.hooks);
  for (const hook of hooks) {
    const draft = hookDraft({ ...hook, object: withoutNulls(hook.object) }, state) as Child;
    const unchanged = plannedChild(draft, { unchanged: true });
    if (state.hooks.includes(hook.id)) {
      if (staysAfter(hook, "succeeded")) children.push(runsOnce(hook) ? unchanged : plannedChild(draft, {}));
      continue;
    }
    const progress = hookProgress(existing.of(draft), state);
    const run = () => ({ children, succeeded: [...succeeded] });
    if (typeof progress === "object") {
      const isStored = state.phase === "failed";
      if (!isStored || staysAfter(hook, "failed")) children.push(unchanged);
      return { ...run(), failure: `${hook.id} failed: ${progress.failed}` };
    }
    if (progress === "outdated") return { ...run(), waitsFor: `the deletion of an earlier ${hook.id}` };
    if (progress !== "succeeded") {
      children.push(
        progress === "running" ? unchanged : plannedChild(draft, { readyWhen: () => true, onRefused: "report" }),
      );
      return { ...run(), waitsFor: hook.id };
    }
    succeeded.add(hook.id);
    children.push(runsOnce(hook) ? unchanged : plannedChild(draft, {}));
  }
  return { children, succeeded: [...succeeded] };
}

/** While hooks run that come before everything else, the rest stays as it is. */
function heldBack(existing: ExistingObjects, hooks: readonly HookObject[]): PlannedChild[] {
  const ofHooks = new Set(hooks.map(({ object }) => identity(object)));
  return existing
    .all()
    .filter((object) => !ofHooks.has(identity(object)))
    .map((object) => plannedChild(object as Child, { unchanged: true }));
}

/** Hooks of other operations, such as a Secret that was created by the installation, stay as long as the chart has them. */
function leftovers(rendered: Rendered, current: readonly HookObject[], existing: ExistingObjects): PlannedChild[] {
  const isCurrent = new Set(current.map(({ object }) => identity(object)));
  return rendered.hooks
    .flatMap(({ objects }) => objects)
    .filter((object) => !isCurrent.has(identity(object)) && existing.of(object) !== undefined)
    .map((object) => plannedChild(object as Child, { unchanged: true }));
}

/** Kinds without which others cannot be created, and what workloads read: each tier after those before it. */
const TIERS = [
  new Set(["PriorityClass", "Namespace", "CustomResourceDefinition"]),
  new Set([
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "ServiceAccount",
    "Secret",
    "ConfigMap",
    "StorageClass",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
  ]),
];

function planned(objects: readonly KubeObject[], recreate: boolean): PlannedChild[] {
  const tierOf = ({ kind }: KubeObject) => {
    const found = TIERS.findIndex((kinds) => kinds.has(kind));
    return found < 0 ? TIERS.length : found;
  };
  return objects.map((object) =>
    plannedChild(object as Child, {
      after: objects.filter((other) => tierOf(other) < tierOf(object)) as Child[],
      onRefused: "report",
      ...(recreate && { onImmutable: "recreate" }),
    }),
  );
}

/** An object can be that of a hook and of a template: the first counts. */
function withoutTwins(children: readonly PlannedChild[]): PlannedChild[] {
  const all = new Map<string, PlannedChild>();
  for (const child of children) if (!all.has(identity(child.draft))) all.set(identity(child.draft), child);
  return [...all.values()];
}
