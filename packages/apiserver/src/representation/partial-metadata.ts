import type { AnyObject } from "@konverge/core";
import type { ListMetadata } from "./answer.ts";

/** An object's metadata alone: what metadata-only caches ask for. */
export function partialMetadata({ metadata }: AnyObject, apiVersion: string): object {
  return { kind: "PartialObjectMetadata", apiVersion, metadata };
}

export function partialMetadataList(objects: readonly AnyObject[], metadata: ListMetadata, apiVersion: string): object {
  return {
    kind: "PartialObjectMetadataList",
    apiVersion,
    metadata,
    items: objects.map((object) => partialMetadata(object, apiVersion)),
  };
}
