import { deepEqual } from "@konverge/core";
import type { PodSpec } from "../codec/objects.ts";
import { objectOf } from "../resources/stored-object.ts";
import { type AdmissionAttributes, type AdmissionPlugin, isAbout, refusal } from "./attributes.ts";
import { violations } from "./pod-security-checks.ts";

const PREFIX = "pod-security.kubernetes.io/";
const LEVELS = new Set(["privileged", "baseline", "restricted"]);

/** Where the pod's spec is in what makes pods. */
const TEMPLATES: Record<string, readonly string[]> = {
  "/pods": ["spec"],
  "/podtemplates": ["template", "spec"],
  "/replicationcontrollers": ["spec", "template", "spec"],
  "apps/deployments": ["spec", "template", "spec"],
  "apps/replicasets": ["spec", "template", "spec"],
  "apps/statefulsets": ["spec", "template", "spec"],
  "apps/daemonsets": ["spec", "template", "spec"],
  "batch/jobs": ["spec", "template", "spec"],
  "batch/cronjobs": ["spec", "jobTemplate", "spec", "template", "spec"],
};

/** A namespace's labels say which pods it takes, and which it warns about. What makes pods is warned about, never refused. */
export const podSecurity: AdmissionPlugin = {
  name: "PodSecurity",
  handles: (attributes) =>
    (attributes.operation === "CREATE" || attributes.operation === "UPDATE") &&
    isAbout(attributes, "/namespaces", ...Object.keys(TEMPLATES)),
  validate(attributes) {
    const { call, namespace, group, resource, object, old } = attributes;
    if (resource === "namespaces") return warnOfExisting(attributes);
    const labels = call.store.collection("/namespaces").get(namespace)?.labels ?? {};
    const path = TEMPLATES[`${group}/${resource}`]!;
    const spec = specAt(object, path);
    if (!spec || (old && deepEqual(spec, specAt(old, path)))) return;
    if (resource === "pods") enforce(attributes, labels, spec);
    const warned = levelOf(labels, "warn");
    const problem = describe(warned.level, spec);
    if (problem) call.warn(`would violate PodSecurity "${warned.level}:${warned.version}": ${problem}`);
  },
};

function enforce(attributes: AdmissionAttributes, labels: Record<string, string>, spec: PodSpec): void {
  const { level, version } = levelOf(labels, "enforce");
  const problem = describe(level, spec);
  if (problem) throw refusal(attributes, `violates PodSecurity "${level}:${version}": ${problem}`);
}

/** A client that makes a namespace stricter is warned of the pods that would no longer be admitted. */
function warnOfExisting({ call, object, old }: AdmissionAttributes): void {
  if (!object || !old) return;
  const now = levelOf(object.metadata.labels ?? {}, "enforce");
  const before = levelOf(old.metadata.labels ?? {}, "enforce");
  if (deepEqual(now, before) || now.level === "privileged") return;
  const { name } = object.metadata;
  const byReasons = new Map<string, string[]>();
  for (const entry of call.store.collection("/pods").scan(`${name}/`)) {
    const pod = objectOf(entry);
    const reasons = violations(now.level, pod["spec"] as PodSpec).map(({ reason }) => reason);
    if (reasons.length === 0) continue;
    const key = reasons.join(", ");
    byReasons.set(key, [...(byReasons.get(key) ?? []), pod.metadata.name]);
  }
  if (byReasons.size === 0) return;
  call.warn(
    `existing pods in namespace "${name}" violate the new PodSecurity enforce level "${now.level}:${now.version}"`,
  );
  for (const [reasons, [first, ...others]] of byReasons) {
    const more = others.length === 0 ? "" : ` (and ${others.length} other ${others.length === 1 ? "pod" : "pods"})`;
    call.warn(`${first}${more}: ${reasons}`);
  }
}

/** A level that there is not is taken for the strictest. */
function levelOf(labels: Record<string, string>, mode: "enforce" | "warn"): { level: string; version: string } {
  const named = labels[PREFIX + mode];
  const level = named ?? "privileged";
  return { level: LEVELS.has(level) ? level : "restricted", version: labels[`${PREFIX}${mode}-version`] ?? "latest" };
}

function describe(level: string, spec: PodSpec): string {
  return violations(level, spec)
    .map(({ reason, detail }) => `${reason} (${detail})`)
    .join(", ");
}

function specAt(object: unknown, path: readonly string[]): PodSpec | undefined {
  let at = object;
  for (const name of path) at = (at as Record<string, unknown> | undefined)?.[name];
  return at as PodSpec | undefined;
}
