import type { ObjectMeta, Schema } from "@konverge/core";
import type { CustomResourceDefinition, WebhookClientConfig } from "@konverge/kinds";

/** A CustomResourceDefinition as it is written (apiextensions.k8s.io/v1), without what the server adds. */
export interface CrdObject {
  apiVersion: "apiextensions.k8s.io/v1";
  kind: "CustomResourceDefinition";
  metadata: Partial<ObjectMeta> & { name: string };
  spec: CrdSpec;
}

/** A CRD as it is written, or as a client returns it. */
export type AnyCrd = CrdObject | CustomResourceDefinition;

export interface CrdSpec {
  group: string;
  names: CrdNames;
  scope: "Namespaced" | "Cluster";
  versions: CrdVersion[];
  conversion?: CrdConversion;
  preserveUnknownFields?: boolean;
}

export interface CrdNames {
  kind: string;
  plural: string;
  singular?: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

export interface CrdVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: Schema };
  subresources?: {
    status?: Record<string, never>;
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  };
  additionalPrinterColumns?: CrdColumn[];
  selectableFields?: { jsonPath: string }[];
}

export interface CrdColumn {
  name: string;
  type: string;
  jsonPath: string;
  format?: string;
  description?: string;
  priority?: number;
}

export interface CrdConversion {
  strategy: "None" | "Webhook";
  webhook?: { clientConfig: WebhookClientConfig; conversionReviewVersions: string[] };
}
