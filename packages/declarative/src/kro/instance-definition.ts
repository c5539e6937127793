import type { Schema } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { pluralOf } from "@konverge/schema";
import { CONDITIONS } from "../kinds/conditions-schema.ts";
import type { ResourceGraphDefinition } from "./resource-graph-definition.ts";

/** Says to which graph a definition belongs. */
export const GRAPH_NAME_LABEL = "kro.run/resource-graph-definition-name";
export const GRAPH_ID_LABEL = "kro.run/resource-graph-definition-id";

const COLUMNS = [
  { name: "State", type: "string", jsonPath: ".status.state" },
  { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];

/** The CustomResourceDefinition of the instances of a graph. */
export function definitionOf({ metadata, spec }: ResourceGraphDefinition, instanceSpec: Schema, status: Schema) {
  const { kind, group, apiVersion, scope, shortNames, categories, additionalPrinterColumns, ...schema } = spec.schema;
  const plural = pluralOf(kind);
  const openAPIV3Schema: Schema = {
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: instanceSpec,
      status: {
        type: "object",
        properties: { state: { type: "string" }, ...status.properties, conditions: CONDITIONS },
      },
    },
  };
  return CustomResourceDefinition.draft({
    metadata: {
      name: `${plural}.${group}`,
      labels: {
        ...schema.metadata?.labels,
        "app.kubernetes.io/managed-by": "kro",
        "kro.run/owned": "true",
        [GRAPH_NAME_LABEL]: metadata.name!,
        ...(metadata.uid && { [GRAPH_ID_LABEL]: metadata.uid }),
      },
      ...(schema.metadata?.annotations && { annotations: schema.metadata.annotations }),
    },
    spec: {
      group,
      scope,
      names: {
        kind,
        plural,
        singular: kind.toLowerCase(),
        listKind: `${kind}List`,
        ...(shortNames && { shortNames }),
        ...(categories && { categories }),
      },
      versions: [
        {
          name: apiVersion,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: openAPIV3Schema as never },
          subresources: { status: {} },
          additionalPrinterColumns: additionalPrinterColumns ?? COLUMNS,
        },
      ],
    },
  }) as CustomResourceDefinition;
}
