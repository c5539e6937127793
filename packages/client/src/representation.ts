import { apiVersionOf, type KindRef, type KubeList, type KubeObject, type ListMeta } from "@konverge/core";

const METADATA_ONLY = Symbol("metadata only");

/**
 * The same kind, of which only the metadata is fetched, which needs less bandwidth and memory:
 * `client.list(metadataOnly(Pod))`.
 */
export function metadataOnly(kind: KindRef<KubeObject>): KindRef<KubeObject> {
  const { group, version, kind: name, plural, namespaced } = kind;
  return { group, version, kind: name, plural, namespaced, [METADATA_ONLY]: true } as KindRef<KubeObject>;
}

/** Whether a kind is one of {@link metadataOnly}. */
export function isMetadataOnly(kind: KindRef<KubeObject>): boolean {
  return METADATA_ONLY in kind;
}

/** The Accept header that asks for one object of the kind. */
export function acceptObject(kind: KindRef<KubeObject>): string {
  return isMetadataOnly(kind) ? "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" : "application/json";
}

/** The Accept header that asks for a list of the kind. */
export function acceptList(kind: KindRef<KubeObject>): string {
  return isMetadataOnly(kind) ? "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" : "application/json";
}

/** The Accept header that asks for a table, of one object or of a list. */
export const acceptTable = "application/json;as=Table;g=meta.k8s.io;v=v1";

/** Objects as the server prints them. */
export interface Table {
  metadata: ListMeta;
  columnDefinitions: TableColumn[];
  rows: TableRow[];
}

export interface TableColumn {
  name: string;
  type: string;
  format: string;
  description: string;
  /** 0: always shown; more: only when there is room. */
  priority: number;
}

export interface TableRow {
  cells: unknown[];
  /** As asked for by includeObject. */
  object?: KubeObject;
  conditions?: { type: string; status: string; reason?: string; message?: string }[];
}

export interface TableOptions {
  /** Only the object of this name. */
  name?: string;
  /** What each row contains of its object. The server's default is Metadata. */
  includeObject?: "None" | "Metadata" | "Object";
}

/**
 * Gives an object its own apiVersion and kind: items of lists come without, and metadata-only ones with
 * PartialObjectMetadata, of which no owner reference could be made.
 */
export function stamp<T extends KubeObject>(kind: KindRef<T>, object: T): T {
  if (object.apiVersion !== undefined && !isMetadataOnly(kind)) return object;
  const { apiVersion: _a, kind: _k, ...rest } = object;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...rest } as T;
}

export function stampList<T extends KubeObject>(kind: KindRef<T>, list: KubeList<T>): KubeList<T> {
  return { ...list, items: (list.items ?? []).map((item) => stamp(kind, item)) };
}
