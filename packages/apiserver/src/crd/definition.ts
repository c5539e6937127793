import { type AnyObject, apiVersionOf, type Schema } from "@konverge/core";
import { validate } from "@konverge/schema";
import { customCodec } from "../codec/index.ts";
import type {
  ResourceDefinition,
  ResourceVersion,
  ScalePaths,
  SubresourceDefinition,
} from "../resources/definition.ts";

/** A CustomResourceDefinition, as far as serving it needs. */
export interface CustomResourceDefinition extends AnyObject {
  spec: CrdSpec;
  status?: CrdStatus;
}

export interface CrdSpec {
  group: string;
  scope: "Namespaced" | "Cluster";
  names: CrdNames;
  versions: CrdVersion[];
  conversion?: CrdConversion;
  preserveUnknownFields?: boolean;
}

export interface CrdNames {
  plural: string;
  singular?: string;
  kind: string;
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
  subresources?: { status?: object; scale?: ScalePaths };
  additionalPrinterColumns?: {
    name: string;
    type: string;
    format?: string;
    description?: string;
    priority?: number;
    jsonPath: string;
  }[];
  selectableFields?: { jsonPath: string }[];
}

export interface CrdConversion {
  strategy: "None" | "Webhook";
  webhook?: { clientConfig?: object; conversionReviewVersions: string[] };
}

export interface CrdStatus {
  conditions?: CrdCondition[] | null;
  acceptedNames?: CrdNames;
  storedVersions?: string[] | null;
}

export interface CrdCondition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** The resource that a CRD defines, with the names it has been granted. */
export function resourceOf(
  { spec, status }: CustomResourceDefinition,
  since: number,
  convert: ResourceDefinition["convert"],
): ResourceDefinition {
  const { group } = spec;
  const names = status?.acceptedNames ?? spec.names;
  const stored = spec.versions.find((version) => version.storage)!;
  const versions = new Map<string, ResourceVersion>();
  for (const version of spec.versions) {
    if (version.served) versions.set(version.name, versionOf(group, names, version));
  }
  return {
    group,
    plural: names.plural,
    singular: names.singular ?? "",
    namespaced: spec.scope === "Namespaced",
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    storageVersion: stored.name,
    storedAs: apiVersionOf({ group, version: stored.name }),
    storageCodec: customCodec(schemaOf(stored)),
    versions,
    strategy: {
      hasGeneration: true,
      validate: (object) => validate(schemaOf(stored), object),
    },
    custom: true,
    storage: `${group}/${names.plural}`,
    since,
    convert,
  };
}

/** Schemas are of use with an object at their root, which all have. */
export function schemaOf(version: CrdVersion): Schema {
  return version.schema?.openAPIV3Schema ?? { type: "object", "x-kubernetes-preserve-unknown-fields": true };
}

function versionOf(group: string, names: CrdNames, version: CrdVersion): ResourceVersion {
  const schema = schemaOf(version);
  const { name, subresources = {}, selectableFields = [], additionalPrinterColumns = [] } = version;
  const kind = { group, version: name, kind: names.kind };
  const served: SubresourceDefinition[] = [];
  const verbs = ["get", "patch", "update"];
  if (subresources.status) served.push({ name: "status", verbs, kind });
  if (subresources.scale) {
    served.push({ name: "scale", verbs, kind: { group: "autoscaling", version: "v1", kind: "Scale" } });
  }
  return {
    version: name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    verbs: VERBS,
    schema,
    codec: customCodec(schema),
    subresources: new Map(served.map((subresource) => [subresource.name, subresource])),
    columns: additionalPrinterColumns.map((column) => ({ format: "", priority: 0, ...column })),
    selectableFields: selectableFields.map(({ jsonPath }) => jsonPath.replace(/^\./, "")),
    ...(subresources.scale && { scale: subresources.scale }),
    ...(version.deprecated && {
      deprecation: version.deprecationWarning ?? `${group}/${name} ${names.kind} is deprecated`,
    }),
  };
}
