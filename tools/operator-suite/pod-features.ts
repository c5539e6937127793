import assert from "node:assert/strict";
import type { Container, PodSpec } from "@konverge/kinds";

const variable = { name: "TOKEN", valueFrom: { secretKeyRef: { name: "access", key: "token" } } };
const container = {
  env: [variable],
  envFrom: [{ configMapRef: { name: "settings" } }],
} satisfies Partial<Container>;

const pod = {
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" as const },
  ],
  priorityClassName: "important",
  initContainers: [
    { name: "prepare", image: "busybox:1.36", command: ["true"] },
    { name: "proxy", image: "envoyproxy/envoy:v1.30.0", restartPolicy: "Always" as const },
  ],
  runtimeClassName: "gvisor",
  schedulerName: "other-scheduler",
} satisfies Partial<PodSpec>;

const sidecar: Container = { name: "exporter", image: "exporter:1" };

/**
 * Fields of pods that users of every operator need, as they write them where a kind takes a pod: `container` is for the
 * container that does the work, `sidecar` stands beside it.
 */
export const podFeatures = { container, pod, sidecar };

/** Asserts that a rendered pod has all of {@link podFeatures}; `name` is the container that does the work. */
export function hasPodFeatures(spec: PodSpec | undefined, name: string): void {
  const main = spec?.containers.find((one) => one.name === name);
  assert.deepEqual(main?.env?.find((one) => one.name === variable.name)?.valueFrom, variable.valueFrom);
  assert.deepEqual(main?.envFrom, container.envFrom);
  assert.ok(
    spec?.containers.some((one) => one.name === sidecar.name),
    "the second container is missing",
  );
  const { initContainers, ...others } = pod;
  for (const { name: own, image } of initContainers) {
    assert.equal(spec?.initContainers?.find((one) => one.name === own)?.image, image, `init container ${own}`);
  }
  assert.equal(spec?.initContainers?.find((one) => one.name === "proxy")?.restartPolicy, "Always");
  for (const [field, value] of Object.entries(others)) assert.deepEqual(spec?.[field as keyof PodSpec], value, field);
}
