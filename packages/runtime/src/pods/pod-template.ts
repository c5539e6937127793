import type { DeepPartial } from "@konverge/client";
import { deepCopy, type FieldError } from "@konverge/core";
import { definitionSchema, type PodTemplateSpec } from "@konverge/kinds";
import { coerce, opaqueObject, validateValue } from "@konverge/schema";
import { applyStrategicMergePatch } from "@konverge/schema/patch";
import { type PodSecurityOptions, restrictedPodSpec } from "./pod-security.ts";

/** Part of a pod template: `{ spec: { nodeSelector: …, tolerations: … } }`. */
export type PodTemplateOverlay = DeepPartial<PodTemplateSpec>;

/** An optional field with a {@link PodTemplateOverlay}. */
export type PodTemplateField = ReturnType<ReturnType<typeof opaqueObject<PodTemplateOverlay>>["optional"]>;

export interface PodTemplateOptions extends PodSecurityOptions {
  /** What the user writes in the field of {@link podTemplateField}. */
  readonly overlay?: PodTemplateOverlay | undefined;
}

/** Read when it is first needed: it is large. */
const schema = () => definitionSchema("core.v1.PodTemplateSpec");

/**
 * The schema of a field `template`, for a kind that creates pods:
 *
 * ```ts
 * spec: z.object({ image: z.string(), template: podTemplateField() })
 * ```
 */
export function podTemplateField(): PodTemplateField {
  return opaqueObject<PodTemplateOverlay>()
    .optional()
    .describe(
      "Merged into the pods like a strategic merge patch: containers, volumes and variables by name, everything else as in a Pod.",
    );
}

/**
 * The template of an operator's pods: what it renders, the user's overlay as a strategic merge patch, and defaults that
 * meet the Pod Security Standard `restricted` for fields that neither of them sets.
 *
 * Rendered labels are kept, because selectors depend on them.
 */
export function podTemplate(rendered: PodTemplateSpec, options: PodTemplateOptions = {}): PodTemplateSpec {
  const { overlay } = options;
  const merged = overlay ? mergePodTemplate(rendered, overlay) : rendered;
  const labels = { ...merged.metadata?.labels, ...rendered.metadata?.labels };
  return {
    ...merged,
    ...((overlay?.metadata || rendered.metadata) && { metadata: { ...merged.metadata, labels } }),
    spec: restrictedPodSpec(merged.spec!, options),
  };
}

/** A pod template with an overlay applied as a strategic merge patch, and nothing else. */
export function mergePodTemplate(template: PodTemplateSpec, overlay: PodTemplateOverlay): PodTemplateSpec {
  return applyStrategicMergePatch(template, overlay, schema());
}

/** The errors in an overlay, for an admission webhook: unknown fields, and values of the wrong type. */
export function podTemplateErrors(overlay: PodTemplateOverlay | undefined, path = "spec.template"): FieldError[] {
  if (!overlay) return [];
  const copy = deepCopy(overlay) as object;
  const unknown = coerce(schema(), copy).unknown.map(
    (field): FieldError => ({ reason: "FieldValueInvalid", field: `${path}.${field}`, message: "unknown field" }),
  );
  // What is required of a whole template, the operator renders.
  const wrong = validateValue(schema(), copy, { path }).filter(({ reason }) => reason !== "FieldValueRequired");
  return [...unknown, ...wrong];
}
