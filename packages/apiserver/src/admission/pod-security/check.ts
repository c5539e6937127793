import type { Container, PodSecurityContext, PodSpec, SecurityContext } from "../../codec/objects.ts";

/** What checks see of a pod, or of the template of pods. */
export interface CheckedPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
}

/** What a pod does that a level forbids: why, and where. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export type CheckPod = (pod: CheckedPod) => Violation | undefined;

/** A rule of a level, as each minor version of Kubernetes has it from `since` on. */
export interface Check {
  readonly id: string;
  /** Oldest first. */
  readonly versions: readonly { readonly since: number; readonly check: CheckPod }[];
  /** The check of the level below that this one replaces, from the same version on. */
  readonly overrides?: string;
}

/** Where a setting may stand: for the whole pod, or for a container. */
export type Holder = PodSecurityContext | SecurityContext | undefined;

export function containersOf({ initContainers, containers, ephemeralContainers }: PodSpec): Container[] {
  return [...(initContainers ?? []), ...(containers ?? []), ...((ephemeralContainers ?? []) as Container[])];
}

export const isWindows = ({ spec }: CheckedPod) => spec.os?.name === "windows";

/** In a separate user namespace, root in a container is not root on the node. */
export const hasUserNamespace = ({ spec }: CheckedPod) => spec.hostUsers === false;

/** A check that does not apply to some pods. */
export const except =
  (isExempt: (pod: CheckedPod) => boolean, check: CheckPod): CheckPod =>
  (pod) =>
    isExempt(pod) ? undefined : check(pod);

export const plural = (one: string, many: string, list: readonly unknown[]) => (list.length === 1 ? one : many);
export const quotedList = (list: readonly string[]) => `"${list.join('", "')}"`;
export const distinct = (list: readonly string[]) => [...new Set(list)].sort();

export function named(containers: readonly Container[]): string {
  return `${plural("container", "containers", containers)} ${quotedList(containers.map(({ name }) => name))}`;
}

/** A check of each container: which ones are bad, and what to report of them. */
export function byContainer(
  reason: string,
  isBad: (container: Container) => boolean,
  detail: (who: string, bad: readonly Container[]) => string,
): CheckPod {
  return ({ spec }) => {
    const bad = containersOf(spec).filter(isBad);
    return bad.length > 0 ? { reason, detail: detail(named(bad), bad) } : undefined;
  };
}

/** The pod and the containers whose own security context is bad, as `pod and container "a"`; undefined if none is. */
export function badSetters(spec: PodSpec, isBad: (holder: Holder) => boolean): string | undefined {
  const setters: string[] = isBad(spec.securityContext) ? ["pod"] : [];
  const bad = containersOf(spec).filter(({ securityContext }) => isBad(securityContext));
  if (bad.length > 0) setters.push(named(bad));
  return setters.length > 0 ? setters.join(" and ") : undefined;
}

export function holdersOf(spec: PodSpec): Holder[] {
  return [spec.securityContext, ...containersOf(spec).map(({ securityContext }) => securityContext)];
}

/** A setting that is required, and that containers have from their pod unless they set it themselves. */
export function inherited(
  reason: string,
  isGood: (holder: Holder) => boolean | undefined,
  explicit: (who: string, spec: PodSpec) => string,
  missing: (who: string) => string,
): CheckPod {
  return ({ spec }) => {
    const setters = badSetters(spec, (holder) => isGood(holder) === false);
    if (setters) return { reason, detail: explicit(setters, spec) };
    if (isGood(spec.securityContext)) return undefined;
    const open = containersOf(spec).filter(({ securityContext }) => isGood(securityContext) === undefined);
    return open.length > 0 ? { reason, detail: missing(named(open)) } : undefined;
  };
}
