import { invalid } from "@konverge/core";
import type { Container, Pod, PodSpec, PodTemplateSpec } from "../../codec/objects.ts";
import type { WorkingObject } from "../../codec/working-object.ts";
import { type AdmissionAttributes, type AdmissionPlugin, refusal } from "../attributes.ts";
import type { CheckedPod } from "./check.ts";
import { describe, violations } from "./evaluate.ts";
import { warningsOfExisting } from "./existing-pods.ts";
import { isPrivileged, isSame, isStricter, levelText, type Policy, PREFIX, policyOf } from "./policy.ts";

/** Where the template of the pods is in what creates pods. */
const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  "/podtemplates": ["template"],
  "/replicationcontrollers": ["spec", "template"],
  "apps/deployments": ["spec", "template"],
  "apps/replicasets": ["spec", "template"],
  "apps/statefulsets": ["spec", "template"],
  "apps/daemonsets": ["spec", "template"],
  "batch/jobs": ["spec", "template"],
  "batch/cronjobs": ["spec", "jobTemplate", "spec", "template"],
};

/** None of these changes what runs in a pod. Any other subresource is checked, one that is added later as well. */
const HARMLESS = new Set(["exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"]);

/**
 * Pod Security admission: the labels of a namespace say which pods it takes, which of them are recorded in the audit log,
 * and which ones clients are warned about. What creates pods is recorded and warned about, never refused.
 */
export const podSecurity: AdmissionPlugin = {
  name: "PodSecurity",
  handles({ operation, group, resource, subresource }) {
    if (operation !== "CREATE" && operation !== "UPDATE") return false;
    const name = `${group}/${resource}`;
    if (name === "/pods") return !HARMLESS.has(subresource);
    return subresource === "" && (name === "/namespaces" || name in TEMPLATES);
  },
  validate(attributes) {
    const { call, namespace, group, resource, object, old } = attributes;
    if (!object) return;
    if (resource === "namespaces") return validateNamespace(attributes, object);
    const policy = policyOf(call.store.collection("/namespaces").get(namespace)?.labels ?? {});
    if (resource === "pods") {
      if (isPrivileged(policy)) call.annotate?.(`${PREFIX}enforce-policy`, levelText(policy.enforce));
      else if (!old || isSignificantUpdate(object, old)) validatePod(attributes, policy, podIn(object), true);
      return;
    }
    const template = at(object, TEMPLATES[`${group}/${resource}`]!);
    if (!isPrivileged(policy) && template) validatePod(attributes, policy, podIn(template), false);
  },
};

function validatePod(attributes: AdmissionAttributes, policy: Policy, pod: CheckedPod, enforces: boolean): void {
  const { call } = attributes;
  const { enforce, audit, warn, errors } = policy;
  if (errors.length > 0) {
    const text = errors.map(({ field, message }) => `${field}: ${message}`).join(", ");
    call.annotate?.(`${PREFIX}error`, `Failed to parse policy: ${errors.length > 1 ? `[${text}]` : text}`);
  }
  if (enforces) call.annotate?.(`${PREFIX}enforce-policy`, levelText(enforce));
  const audited = describe(violations(audit, pod));
  if (audited) {
    call.annotate?.(`${PREFIX}audit-violations`, `would violate PodSecurity "${levelText(audit)}": ${audited}`);
  }
  const forbidden = enforces ? describe(violations(enforce, pod)) : "";
  if (forbidden) throw refusal(attributes, `violates PodSecurity "${levelText(enforce)}": ${forbidden}`);
  const warned = describe(violations(warn, pod));
  if (warned) call.warn(`would violate PodSecurity "${levelText(warn)}": ${warned}`);
}

/** Labels are right, unless they were wrong before. A client that makes a namespace stricter is warned of its pods. */
function validateNamespace({ call, old, kind }: AdmissionAttributes, object: WorkingObject): void {
  const policy = policyOf(object.metadata.labels ?? {});
  const before = old && policyOf(old.metadata.labels ?? {});
  const isNew = JSON.stringify(policy.errors) !== JSON.stringify(before?.errors);
  if (policy.errors.length > 0 && isNew) throw invalid({ group: "", kind }, object.metadata.name, policy.errors);
  const { enforce } = policy;
  if (!before || isSame(enforce, before.enforce) || enforce.level === "privileged") return;
  if (enforce.version === before.enforce.version && !isStricter(enforce.level, before.enforce.level)) return;
  for (const warning of warningsOfExisting(call.store, object.metadata.name, enforce)) call.warn(warning);
}

/** A pod's images can change, and ephemeral containers join it; nothing else that checks look at. */
function isSignificantUpdate(object: WorkingObject, old: WorkingObject): boolean {
  const [now, before] = [object, old].map((pod) => (pod as unknown as Pod).spec) as [PodSpec, PodSpec];
  const images = (containers: readonly Container[] = []) => containers.map(({ image }) => image).join("\n");
  if (images(now.containers) !== images(before.containers)) return true;
  if (images(now.initContainers) !== images(before.initContainers)) return true;
  const known = new Map((before.ephemeralContainers ?? []).map(({ name, image }) => [name, image]));
  return (now.ephemeralContainers ?? []).some(({ name, image }) => !known.has(name) || known.get(name) !== image);
}

function podIn({ metadata, spec }: PodTemplateSpec | WorkingObject): CheckedPod {
  return { annotations: metadata?.annotations ?? {}, spec: (spec ?? {}) as PodSpec };
}

function at(object: unknown, path: readonly string[]): PodTemplateSpec | undefined {
  let value = object;
  for (const name of path) value = (value as Record<string, unknown> | undefined)?.[name];
  return value as PodTemplateSpec | undefined;
}
