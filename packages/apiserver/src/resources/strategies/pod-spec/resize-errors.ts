import { append, deepEqual, type FieldError, type QuantityValue } from "@konverge/core";
import { forbidden, invalidValue } from "@konverge/schema";
import type { Container, Pod } from "../../../codec/objects.ts";
import { isMirror } from "./annotations.ts";
import { qosClass } from "./qos.ts";

type Amounts = Record<string, QuantityValue>;

const RESIZABLE = ["cpu", "memory"];

/** What a resize of a pod may not change: all but the processor and the memory of its containers. */
export function resizeErrors(pod: Pod, old: Pod): FieldError[] {
  if (isMirror(old)) return [forbidden("", "static pods cannot be resized")];
  const errors: FieldError[] = [];
  const detail = "Pod QOS Class may not change as a result of resizing";
  const before = old.status?.qosClass ?? qosClass(old.spec);
  if (before !== qosClass(pod.spec)) errors.push(invalidValue("spec", pod.status?.qosClass ?? before, detail));
  const running = old.status?.containerStatuses?.find(({ state }) => state?.running);
  if (running && !running.resources) errors.push(forbidden("spec", "Pod running on node without support for resize"));
  const misplaced = (["containers", "initContainers"] as const).flatMap((list) => orderErrors(pod, old, list));
  if (misplaced.length > 0) return [...errors, ...misplaced];
  const spec = { ...pod.spec };
  for (const list of ["initContainers", "containers"] as const) {
    if (!spec[list]) continue;
    spec[list] = spec[list].map((container, index) => {
      const was = old.spec[list]![index]!;
      append(errors, removalErrors(container, was, `spec.${list}[${index}].resources`));
      const as = unresized(container, was);
      if (!deepEqual(as, plain(was))) {
        const isInit = list === "initContainers";
        const which = isInit ? "cpu and memory resources for init or sidecar containers" : "cpu and memory resources";
        errors.push(forbidden(isInit ? `spec.initContainers[${index}]` : "spec", `only ${which} are mutable`));
      }
      return was;
    });
  }
  if (errors.length > 0) return errors;
  return deepEqual(spec, old.spec) ? [] : [forbidden("spec", "only cpu and memory resources are mutable")];
}

function orderErrors(pod: Pod, old: Pod, list: "containers" | "initContainers"): FieldError[] {
  const [now, before] = [pod.spec[list] ?? [], old.spec[list] ?? []];
  if (now.length !== before.length) return [forbidden(`spec.${list}`, `${list} may not be added or removed on resize`)];
  return before.flatMap(({ name }, index) =>
    now[index]!.name === name
      ? []
      : [forbidden(`spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`)],
  );
}

function removalErrors({ resources }: Container, { resources: old }: Container, field: string): FieldError[] {
  const isRemoved = (now: Amounts = {}, before: Amounts = {}) => Object.keys(before).some((name) => !(name in now));
  return [
    ...(isRemoved(resources?.requests, old?.requests)
      ? [forbidden(`${field}.requests`, "resource requests cannot be removed")]
      : []),
    ...(isRemoved(resources?.limits, old?.limits)
      ? [forbidden(`${field}.limits`, "resource limits cannot be removed")]
      : []),
  ];
}

/** A container as it would be if what may change had not. */
function unresized(container: Container, old: Container): object {
  const kept = (now: Amounts = {}, before: Amounts = {}): Amounts => ({
    ...Object.fromEntries(Object.entries(now).filter(([name]) => !RESIZABLE.includes(name))),
    ...Object.fromEntries(Object.entries(before).filter(([name]) => RESIZABLE.includes(name))),
  });
  const { requests, limits, ...others } = container.resources ?? {};
  const resources = {
    ...others,
    requests: kept(requests, old.resources?.requests),
    limits: kept(limits, old.resources?.limits),
  };
  return plain({ ...container, resources });
}

function plain({ resources, ...container }: Container): object {
  const { requests = {}, limits = {}, ...others } = resources ?? {};
  return { ...container, resources: { ...others, requests, limits } };
}
