import type { Schema } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { pluralOf } from "@konverge/schema";
import { CONDITIONS } from "../kinds/conditions-schema.ts";
import type { ChartFacts } from "./engine/rendered.ts";
import { valuesSchema } from "./values-schema.ts";

/** Says where the schema of the spec is from: `values.schema.json` or `inferred`. */
export const VALUES_SCHEMA_ANNOTATION = "helm.konverge.dev/values-schema";

const STATUS: Schema = {
  type: "object",
  properties: {
    observedGeneration: { type: "integer" },
    conditions: CONDITIONS,
    deployedRelease: {
      type: "object",
      description: "The release that was deployed last, as Operator SDK reports it.",
      properties: { name: { type: "string" } },
    },
    release: {
      type: "object",
      description: "How far the release is.",
      properties: {
        revision: { type: "integer", description: "Advances with each change of the chart or of the values." },
        operation: { type: "string", description: "What templates see: install or upgrade." },
        phase: { type: "string", description: "pre-hooks, apply, post-hooks, deployed or failed." },
        inputs: { type: "string", description: "Identifies the chart and the values." },
        startedAt: { type: "string", description: "The time that templates see." },
        deployedRevision: { type: "integer" },
        hooks: { type: "array", items: { type: "string" }, description: "Hooks of this revision that have succeeded." },
        failure: { type: "string" },
      },
    },
  },
};

const COLUMNS = [
  { name: "Revision", type: "integer", jsonPath: ".status.release.revision" },
  { name: "Phase", type: "string", jsonPath: ".status.release.phase" },
  { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];

/** The CustomResourceDefinition whose objects are releases of a chart. */
export function releaseDefinition(
  { group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string },
  chart: ChartFacts,
): CustomResourceDefinition {
  const plural = pluralOf(kind);
  const { schema: spec, from } = valuesSchema(chart);
  const origin = from === "inferred" ? "inferred from values.yaml" : `of ${from}`;
  const openAPIV3Schema: Schema = {
    type: "object",
    description: `A release of the chart ${chart.name} ${chart.version}.`,
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: { ...spec, description: `Values of the chart; the schema is ${origin}.` },
      status: STATUS,
    },
  };
  return CustomResourceDefinition.draft({
    metadata: { name: `${plural}.${group}`, annotations: { [VALUES_SCHEMA_ANNOTATION]: from } },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: openAPIV3Schema as never },
          subresources: { status: {} },
          additionalPrinterColumns: COLUMNS,
        },
      ],
    },
  }) as CustomResourceDefinition;
}
