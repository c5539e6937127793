import { append, deepEqual, type FieldError, quoted } from "@konverge/core";
import { forbidden, invalidValue, required } from "@konverge/schema";
import type { Container, Pod, PodSpec, Toleration } from "../../../codec/objects.ts";
import { isMirror, podAnnotationUpdateErrors } from "./annotations.ts";
import { MAX_INT32, within } from "./checks.ts";

const CHANGEABLE = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
];

/** What an update of a pod may not change. */
export function podUpdateErrors(pod: Pod, oldPod: Pod): FieldError[] {
  const [{ spec }, { spec: old }] = [pod, oldPod];
  const errors = podAnnotationUpdateErrors(pod, oldPod);
  for (const list of ["containers", "initContainers"] as const) {
    const [now, before] = [spec[list] ?? [], old[list] ?? []];
    if (now.length !== before.length) {
      return [...errors, forbidden(`spec.${list}`, "pod updates may not add or remove containers")];
    }
    now.forEach(({ image = "" }: Container, index) => {
      if (image === "") errors.push(required(`spec.${list}[${index}].image`));
    });
  }
  const [deadline, oldDeadline] = [spec.activeDeadlineSeconds, old.activeDeadlineSeconds];
  const field = "spec.activeDeadlineSeconds";
  if (deadline === undefined && oldDeadline !== undefined) {
    errors.push(invalidValue(field, null, "must not update from a positive integer to nil value"));
  }
  const outside = within(field, deadline, 0, MAX_INT32);
  if (outside.length > 0) return [...errors, ...outside];
  if (deadline !== undefined && oldDeadline !== undefined && oldDeadline < deadline) {
    return [...errors, invalidValue(field, deadline, "must be less than or equal to previous value")];
  }
  append(errors, tolerationChanges(spec.tolerations ?? [], old.tolerations ?? []));
  const gates = (old.schedulingGates ?? []).map(({ name }) => name);
  const added = (spec.schedulingGates ?? []).map(({ name }) => name).filter((name) => !gates.includes(name));
  if (added.length > 0) {
    const detail = `only deletion is allowed, but found new scheduling gate '${added[0]}'`;
    errors.push(
      forbidden(
        `spec.schedulingGates[${spec.schedulingGates!.findIndex(({ name }) => name === added[0])}].name`,
        detail,
      ),
    );
  }
  if (!deepEqual(withoutChangeable(spec, old), old)) {
    errors.push(
      forbidden(
        "spec",
        `pod updates may not change fields other than ${CHANGEABLE.join(",")}\n${changedFields(spec, old)}`,
      ),
    );
  }
  return errors;
}

/** Ephemeral containers come, and stay as they are. */
export function ephemeralUpdateErrors({ spec }: Pod, oldPod: Pod): FieldError[] {
  if (isMirror(oldPod)) return [forbidden("", "static pods do not support ephemeral containers")];
  const { spec: old } = oldPod;
  const now = new Map((spec.ephemeralContainers ?? []).map((container) => [container.name, container]));
  return (old.ephemeralContainers ?? []).flatMap((container) => {
    const kept = now.get(container.name);
    const which = `existing ephemeral containers ${quoted(container.name)}`;
    if (!kept) return [forbidden("spec.ephemeralContainers", `${which} may not be removed\n`)];
    return deepEqual(kept, container) ? [] : [forbidden("spec.ephemeralContainers", `${which} may not be changed\n`)];
  });
}

function tolerationChanges(now: readonly Toleration[], before: readonly Toleration[]): FieldError[] {
  const lost = before.some((old) => {
    const { tolerationSeconds: _old, ...rest } = old;
    return !now.some(({ tolerationSeconds: _now, ...other }) => deepEqual(rest, other));
  });
  const detail = "existing toleration can not be modified except its tolerationSeconds";
  return lost ? [forbidden("spec.tolerations", detail)] : [];
}

/** The new spec with what may change set back to what it was. */
function withoutChangeable(spec: PodSpec, old: PodSpec): PodSpec {
  const same = structuredClone(spec);
  for (const list of ["containers", "initContainers"] as const) {
    same[list]?.forEach((container, index) => {
      const image = old[list]?.[index]?.image;
      if (image !== undefined) container.image = image;
    });
  }
  const isGated = (old.schedulingGates?.length ?? 0) > 0;
  const movable = ["activeDeadlineSeconds", "schedulingGates", "tolerations"] as const;
  for (const name of isGated ? [...movable, "nodeSelector" as const] : movable) {
    if (old[name] === undefined) delete same[name];
    else Object.assign(same, { [name]: old[name] });
  }
  if (isGated && same.affinity && old.affinity?.nodeAffinity) same.affinity.nodeAffinity = old.affinity.nodeAffinity;
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && same.terminationGracePeriodSeconds === 1) {
    same.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds!;
  }
  return same;
}

/** Which of the spec's fields differ, for the reader of the message. */
function changedFields(spec: PodSpec, old: PodSpec): string {
  const changed = withoutChangeable(spec, old) as Record<string, unknown>;
  const before = old as Record<string, unknown>;
  const names = [...new Set([...Object.keys(changed), ...Object.keys(before)])].sort();
  return names
    .filter((name) => !deepEqual(changed[name], before[name]))
    .map((name) => `-${name}: ${JSON.stringify(before[name])}\n+${name}: ${JSON.stringify(changed[name])}`)
    .join("\n");
}
