import type { Schema } from "@konverge/core";
import type { CrdColumn, CrdNames } from "@konverge/schema";
import type { WorkingObject } from "../codec/working-object.ts";
import type { ScalePaths } from "../resources/definition.ts";

/** A CustomResourceDefinition, as far as the server reads it. */
export interface CustomResourceDefinition extends WorkingObject {
  spec: CrdSpec;
  status: CrdStatus;
}

export interface CrdSpec {
  group: string;
  scope: string;
  names: CrdNames;
  versions: CrdVersion[];
  conversion?: CrdConversion;
  preserveUnknownFields?: boolean;
}

export interface CrdVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: Schema };
  subresources?: { status?: object; scale?: ScalePaths };
  additionalPrinterColumns?: CrdColumn[];
  selectableFields?: { jsonPath: string }[];
}

export interface CrdConversion {
  strategy: string;
  webhook?: { clientConfig?: CrdClientConfig; conversionReviewVersions?: string[] | null };
}

export interface CrdClientConfig {
  url?: string;
  service?: { namespace: string; name: string; path?: string; port?: number };
  caBundle?: string;
}

export interface CrdStatus {
  conditions: CrdCondition[] | null;
  acceptedNames: CrdNames;
  storedVersions: string[] | null;
}

export interface CrdCondition {
  type: string;
  status: "True" | "False" | "Unknown";
  lastTransitionTime?: string | null;
  reason?: string;
  message?: string;
}
