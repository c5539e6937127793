import { type FieldError, quoted } from "@konverge/core";
import { forbidden, invalidValue } from "@konverge/schema";
import type { Pod, PodSpec } from "../../../codec/objects.ts";
import { MAX_INT32 } from "./checks.ts";
import { descendingErrors } from "./paths.ts";

type Annotations = Readonly<Record<string, string>>;

/** Which a kubelet sets on the pods that it reports from its files. */
const MIRROR = "kubernetes.io/config.mirror";
const APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP_OF_POD = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP = "container.seccomp.security.alpha.kubernetes.io/";
const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

export const isMirror = ({ metadata }: Pod): boolean => metadata?.annotations?.[MIRROR] !== undefined;

/** What is wrong with the annotations that mean something to nodes and controllers, of a pod or of a template. */
export function podAnnotationErrors(annotations: Annotations, spec: PodSpec, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const mirror = annotations[MIRROR];
  if (mirror !== undefined && !spec.nodeName) {
    errors.push(invalidValue(`${field}[${MIRROR}]`, mirror, "must set spec.nodeName if mirror pod annotation is set"));
  }
  const cost = annotations[DELETION_COST];
  if (cost !== undefined && !isInt32(cost)) {
    errors.push(invalidValue(`${field}[${DELETION_COST}]`, cost, "must be a 32bit integer"));
  }
  for (const [key, value] of Object.entries(annotations)) {
    if (key === SECCOMP_OF_POD || key.startsWith(SECCOMP)) errors.push(...seccompErrors(value, `${field}.${key}`));
    if (key.startsWith(APP_ARMOR)) errors.push(...appArmorErrors(key, value, spec, field));
  }
  return errors;
}

/** What confines a pod, and whether a kubelet made it, is set when it is created: admission does not check it again. */
export function podAnnotationUpdateErrors({ metadata: now, spec }: Pod, { metadata: before }: Pod): FieldError[] {
  const [annotations, old] = [now?.annotations ?? {}, before?.annotations ?? {}];
  const errors = (keys: string[], verb: string) =>
    keys.flatMap((key) => {
      const field = `metadata.annotations[${key}]`;
      if (key.startsWith(APP_ARMOR)) return [forbidden(field, `may not ${verb} AppArmor annotations`)];
      return key === MIRROR ? [forbidden(field, `may not ${verb} mirror pod annotation`)] : [];
    });
  const changed = Object.keys(old).filter((key) => annotations[key] !== old[key]);
  const added = Object.keys(annotations).filter((key) => !Object.hasOwn(old, key));
  return [
    ...errors(changed, "remove or update"),
    ...errors(added, "add"),
    ...podAnnotationErrors(annotations, spec, "metadata.annotations"),
  ];
}

function appArmorErrors(key: string, profile: string, spec: PodSpec, field: string): FieldError[] {
  const name = key.slice(APP_ARMOR.length);
  const errors: FieldError[] = [];
  const lists = [spec.containers, spec.initContainers, spec.ephemeralContainers];
  if (!lists.some((list) => list?.some((container) => container.name === name))) {
    errors.push(invalidValue(`${field}[${key}]`, name, "container not found"));
  }
  if (!["", "runtime/default", "unconfined"].includes(profile) && !profile.startsWith("localhost/")) {
    errors.push(invalidValue(`${field}[${key}]`, profile, `invalid AppArmor profile name: ${quoted(profile)}`));
  }
  return errors;
}

function seccompErrors(profile: string, field: string): FieldError[] {
  if (["runtime/default", "docker/default", "unconfined"].includes(profile)) return [];
  if (profile.startsWith("localhost/")) return descendingErrors(profile.slice("localhost/".length), field);
  return [invalidValue(field, profile, "must be a valid seccomp profile")];
}

/** Without a plus sign, and without zeros before a positive number. */
function isInt32(text: string): boolean {
  return /^(0|[1-9]\d*|-\d+)$/.test(text) && Number(text) <= MAX_INT32 && Number(text) >= -MAX_INT32 - 1;
}
