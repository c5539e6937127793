import type { QuantityValue } from "@konverge/core";
import type { Container, EphemeralContainer, PodSpec, ResourceRequirements, Volume } from "../../../codec/objects.ts";
import { containerAmounts } from "./resource-lists.ts";

/** Defaults of a pod's spec, or of one in a template, that depend on other fields. */
export function podSpecDefaults(spec: PodSpec): void {
  for (const container of containersOf(spec)) container.imagePullPolicy ||= pullPolicyOf(container.image);
  for (const volume of spec.volumes ?? []) volumeDefaults(volume);
  // The older name of the field is read where the newer one is missing, and always written.
  const account = spec.serviceAccountName || spec.serviceAccount;
  if (account) Object.assign(spec, { serviceAccountName: account, serviceAccount: account });
}

/** What pods have beyond templates of pods. */
export function podDefaults(spec: PodSpec): void {
  podSpecDefaults(spec);
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    requestsFromLimits(container.resources);
    if (!spec.hostNetwork) continue;
    for (const port of container.ports ?? []) port.hostPort ||= port.containerPort;
  }
  if (spec.resources) podRequests(spec);
}

/** All containers of a pod, whatever their role. */
export function containersOf(spec: PodSpec): (Container | EphemeralContainer)[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
}

/** Images without a fixed version are asked for each time. */
function pullPolicyOf(image = ""): string {
  if (image.includes("@")) return "IfNotPresent";
  const tag = /:([^:/]+)$/.exec(image)?.[1];
  return tag === undefined || tag === "latest" ? "Always" : "IfNotPresent";
}

function volumeDefaults(volume: Volume): void {
  const source = Object.keys(volume).some((key) => key !== "name" && volume[key as keyof Volume] !== undefined);
  if (!source) volume.emptyDir = {};
  if (volume.image) volume.image.pullPolicy ||= pullPolicyOf(volume.image.reference);
}

function requestsFromLimits(resources: ResourceRequirements | undefined): void {
  if (!resources?.limits) return;
  const requests = { ...resources.requests };
  for (const [name, limit] of Object.entries(resources.limits)) requests[name] ??= limit;
  resources.requests = requests;
}

const OF_WHOLE_PODS = /^(cpu|memory|hugepages-.*)$/;

/** A pod with limits at pod level requests what its containers do, and where they say nothing, its limits. */
function podRequests(spec: PodSpec): void {
  const { resources } = spec;
  if (!resources?.limits || Object.keys(resources.limits).length === 0) return;
  const requests: Record<string, QuantityValue> = { ...resources.requests };
  for (const [name, amount] of containerAmounts(spec, "requests")) {
    if (name === "cpu" || name === "memory") requests[name] ??= amount.toString();
  }
  for (const [name, limit] of Object.entries(resources.limits)) {
    if (OF_WHOLE_PODS.test(name)) requests[name] ??= limit;
  }
  if (Object.keys(requests).length > 0) resources.requests = requests;
}
