import { fieldInSchema, JsonPathError, type Schema } from "@konverge/core";
import type { WebhookClientConfig } from "@konverge/kinds";
import { crdColumn } from "./columns.ts";
import type { CrdObject, CrdVersion } from "./crd-object.ts";
import type { ScaleDefinition, VersionDefinition } from "./definition.ts";
import { DefinitionError } from "./definition-error.ts";

/** A version as it stands in the CRD. */
export function crdVersion(
  version: VersionDefinition,
  place: { name: string; schema: Schema; isStored: boolean },
): CrdVersion {
  const { scale, deprecated, selectableFields = [], columns = {} } = version;
  const { schema } = place;
  if (scale) checkScale(scale, schema);
  checkSelectable(selectableFields, schema);
  const printed = Object.entries(columns).map(([header, column]) => crdColumn(header, column, schema));
  return {
    name: place.name,
    served: version.served ?? true,
    storage: place.isStored,
    ...(deprecated !== undefined && deprecated !== false && { deprecated: true }),
    ...(typeof deprecated === "string" && { deprecationWarning: deprecated }),
    schema: { openAPIV3Schema: schema },
    ...((version.status || scale) && {
      subresources: { ...(version.status && { status: {} }), ...(scale && { scale: scalePaths(scale) }) },
    }),
    ...(printed.length > 0 && { additionalPrinterColumns: printed }),
    ...(selectableFields.length > 0 && { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
  };
}

/** The scale subresource as a CRD writes it. */
export function scalePaths({ replicas, statusReplicas, selector }: ScaleDefinition) {
  return {
    specReplicasPath: replicas,
    statusReplicasPath: statusReplicas,
    ...(selector !== undefined && { labelSelectorPath: selector }),
  };
}

function checkScale(scale: ScaleDefinition, schema: Schema): void {
  const expected = [
    ["replicas", scale.replicas, "integer", [".spec."]],
    ["statusReplicas", scale.statusReplicas, "integer", [".status."]],
    ["selector", scale.selector, "string", [".spec.", ".status."]],
  ] as const;
  for (const [name, jsonPath, type, roots] of expected) {
    if (jsonPath === undefined) continue;
    const at = `scale.${name}`;
    if (!roots.some((root) => jsonPath.startsWith(root)))
      throw new DefinitionError(at, `must start with ${roots.join(" or ")}`);
    const target = follow(jsonPath, schema, at);
    if (target?.type !== type)
      throw new DefinitionError(at, `${jsonPath} must be of type ${type}, not ${target?.type}`);
  }
}

const MOST_SELECTABLE = 8;

function checkSelectable(fields: readonly string[], schema: Schema): void {
  const at = "selectableFields";
  if (fields.length > MOST_SELECTABLE)
    throw new DefinitionError(at, `at most ${MOST_SELECTABLE} are allowed, not ${fields.length}`);
  for (const field of fields) {
    if (fields.indexOf(field) !== fields.lastIndexOf(field)) throw new DefinitionError(at, `${field} is there twice`);
    const { type } = follow(field, schema, at) ?? {};
    if (field.startsWith(".metadata.") || !["string", "boolean", "integer"].includes(type ?? "")) {
      throw new DefinitionError(at, `${field} must be a text, a boolean or an integer outside of metadata`);
    }
  }
}

function follow(jsonPath: string, schema: Schema, at: string): Schema | undefined {
  try {
    return fieldInSchema(jsonPath, schema, { brackets: false }).schema;
  } catch (error) {
    if (error instanceof JsonPathError) throw new DefinitionError(at, `${jsonPath}: ${error.message}`);
    throw error;
  }
}

export interface CrdOptions {
  /** The operator's conversion webhook, for the API server. Required if the kind has conversion functions. */
  conversionWebhook?: WebhookClientConfig;
}

/** The `conversion` part of a CRD. */
export function crdConversion(
  hasFunctions: boolean,
  kind: string,
  options: CrdOptions,
): CrdObject["spec"]["conversion"] {
  if (options.conversionWebhook) {
    return {
      strategy: "Webhook",
      webhook: { clientConfig: options.conversionWebhook, conversionReviewVersions: ["v1"] },
    };
  }
  if (!hasFunctions) return undefined;
  // Without the webhook the server would relabel objects and prune what the other version does not know: data loss.
  throw new Error(
    `${kind} has conversion functions, which the API server calls by webhook: pass crd({ conversionWebhook: { service: … } })`,
  );
}
