import type { Container, PodSpec } from "@konverge/kinds";

/** What the Pod Security Standard `restricted` requires of a container. */
export const RESTRICTED = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  runAsUser: 1000,
  seccompProfile: { type: "RuntimeDefault" },
} as const satisfies Container["securityContext"];

/** A pod with one container that ends at once when it is deleted. */
export function restrictedPod(container: Container): PodSpec {
  return { terminationGracePeriodSeconds: 0, containers: [{ ...container, securityContext: RESTRICTED }] };
}
