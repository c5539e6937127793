import type { Container, PodSpec } from "@konverge/kinds";

/** Facts about the pod that are not in its spec. */
export interface PodSecurityOptions {
  /**
   * The user that containers run as, for images whose own user is root or not a number. Volumes are writable for a
   * group with the same number.
   */
  readonly user?: number;
}

/**
 * A pod that meets the Pod Security Standard `restricted`, and gets no variables from the Services of its namespace (a
 * Service called `vllm` would set VLLM_PORT). A container that fails reports the end of its output. Fields that the spec
 * sets are kept, so that a user can override the defaults.
 */
export function restrictedPodSpec(spec: PodSpec, { user }: PodSecurityOptions = {}): PodSpec {
  const { securityContext, os } = spec;
  const linked = mapContainers({ enableServiceLinks: false, ...spec }, reporting);
  // The standard's fields do not exist on Windows, where the API server refuses them.
  if (os?.name === "windows") return linked;
  return {
    ...mapContainers(linked, restrictedContainer),
    securityContext: {
      ...(securityContext?.runAsUser !== 0 && { runAsNonRoot: true }),
      ...(user !== undefined && { runAsUser: user, fsGroup: user, fsGroupChangePolicy: "OnRootMismatch" }),
      seccompProfile: { type: "RuntimeDefault" },
      ...securityContext,
    },
  };
}

function mapContainers(spec: PodSpec, change: (container: Container) => Container): PodSpec {
  return {
    ...spec,
    ...(spec.initContainers && { initContainers: spec.initContainers.map(change) }),
    containers: spec.containers.map(change),
  };
}

/** Why a container failed is mostly in its last lines; nothing else keeps them once it has been restarted. */
function reporting(container: Container): Container {
  return { terminationMessagePolicy: "FallbackToLogsOnError", ...container };
}

/** The API server refuses a privileged container that may not escalate, and one with CAP_SYS_ADMIN. */
function restrictedContainer(container: Container): Container {
  const { securityContext } = container;
  const { privileged, capabilities, runAsUser } = securityContext ?? {};
  if (privileged) return container;
  const isAdministrator = capabilities?.add?.some((name) => /^(CAP_)?SYS_ADMIN$/.test(name)) ?? false;
  return {
    ...container,
    securityContext: {
      ...(!isAdministrator && { allowPrivilegeEscalation: false }),
      // The pod's runAsNonRoot would keep it from starting.
      ...(runAsUser === 0 && { runAsNonRoot: false }),
      ...securityContext,
      capabilities: { drop: ["ALL"], ...capabilities },
    },
  };
}
