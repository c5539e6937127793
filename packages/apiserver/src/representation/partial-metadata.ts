import type { WorkingObject } from "../codec/working-object.ts";

/** What a list says about itself. */
export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** An object's metadata alone: what metadata-only caches ask for. */
export function partialMetadata({ metadata }: WorkingObject, apiVersion: string): object {
  return { kind: "PartialObjectMetadata", apiVersion, metadata };
}

export function partialMetadataList(
  objects: readonly WorkingObject[],
  metadata: ListMetadata,
  apiVersion: string,
): object {
  return {
    kind: "PartialObjectMetadataList",
    apiVersion,
    metadata,
    items: objects.map((object) => partialMetadata(object, apiVersion)),
  };
}
