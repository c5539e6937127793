import type { EnvVar, Volume, VolumeMount } from "konverge/kinds";
import { CONTAINER } from "./names.ts";
import type { TrainingJob } from "./training-job.ts";

const HOME = "/home/trainer";

/**
 * A home for the user that workers run as. Most images have no entry for it in /etc/passwd: its home would be /, where nothing
 * can be written, and programs that ask for its name would fail. Root has both in each image. What users set wins.
 */
export function homeOf({ spec }: TrainingJob): {
  readonly env: readonly EnvVar[];
  readonly volumes: readonly Volume[];
  readonly mounts: readonly VolumeMount[];
} {
  if (runsAsRoot(spec.template)) return { env: [], volumes: [], mounts: [] };
  const set = new Set((spec.env ?? []).map(({ name }) => name));
  const variables = [
    { name: "HOME", value: HOME },
    { name: "USER", value: "trainer" },
  ];
  const isTaken = [spec.dataVolume?.mountPath, spec.checkpointDir].includes(HOME);
  return {
    env: variables.filter(({ name }) => !set.has(name)),
    volumes: isTaken ? [] : [{ name: "home", emptyDir: {} }],
    mounts: isTaken ? [] : [{ name: "home", mountPath: HOME }],
  };
}

function runsAsRoot(template: TrainingJob["spec"]["template"]): boolean {
  const { securityContext, containers } = template?.spec ?? {};
  const own = containers?.find(({ name }) => name === CONTAINER)?.securityContext?.runAsUser;
  return (own ?? securityContext?.runAsUser) === 0;
}
