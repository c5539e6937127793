import type { EnvVar, PodTemplateSpec } from "konverge/kinds";

/**
 * Appends variables to the containers of a template: to all, or to one. They come after what users wrote, so that of two
 * with the same name it is the operator's that counts.
 */
export function appendEnv(template: PodTemplateSpec, env: readonly EnvVar[], container?: string): PodTemplateSpec {
  const containers = (template.spec?.containers ?? []).map((one) =>
    container === undefined || one.name === container ? { ...one, env: [...(one.env ?? []), ...env] } : one,
  );
  return { ...template, spec: { ...template.spec, containers } };
}
