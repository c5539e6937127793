import type { FieldError, Schema } from "@konverge/core";
import type { NameRule } from "@konverge/schema";
import type { Codec } from "../codec/index.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Strategy } from "./strategy.ts";

export type { Strategy, StrategyContext } from "./strategy.ts";
export type { FieldError, NameRule };

/** A resource as the server serves it, whether built in or from a CRD: what the generic verbs need to know about it. */
export interface ResourceDefinition {
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** The version of its own group in which objects are stored, as discovery tells it. */
  readonly storageVersion: string;
  /** The apiVersion of stored objects: of another group where that group's resource shares the storage. */
  readonly storedAs: string;
  /** Writes the text that is stored. */
  readonly storageCodec: Codec;
  /** Served versions by name, in order of preference. */
  readonly versions: ReadonlyMap<string, ResourceVersion>;
  readonly strategy: Strategy;
  /** From a CRD: no strategic merge, no protobuf, and verbs work in the version of the request. */
  readonly custom: boolean;
  /** The collection in the store. Two groups that serve the same objects (events) share one. */
  readonly storage: string;
  /**
   * Custom resources: the store's revision when this definition came into force. What was stored before may have fields
   * that its schema has no more, and lack defaults.
   */
  readonly since?: number;
  /** Custom resources: reads objects of any version that has been stored, served or not. */
  readonly codecOf?: (apiVersion: string) => Codec;
  /** Custom resources: the CRD is being deleted, and nothing may be created any more. */
  readonly terminating?: boolean;
  /**
   * Objects of any version of this resource (or of one that shares its storage) in another, named by its apiVersion. Must
   * not change what it is given; never called where the versions are the same already.
   */
  convert(
    objects: readonly WorkingObject[],
    apiVersion: string,
  ): readonly WorkingObject[] | Promise<readonly WorkingObject[]>;
  /** Conversion asks a webhook. */
  readonly convertsByWebhook?: boolean;
}

export interface ResourceVersion {
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly verbs: readonly string[];
  readonly schema: Schema;
  /** Between request bodies, objects as the verbs handle them, and the text that is stored and served. */
  readonly codec: Codec;
  readonly subresources: ReadonlyMap<string, SubresourceDefinition>;
  readonly columns: readonly ColumnDefinition[];
  /** The fields that field selectors may name. */
  readonly selectableFields: readonly string[];
  /** Said in a Warning header to whoever uses this version. */
  readonly deprecation?: string;
  /** Custom resources with a scale subresource: where its values are. */
  readonly scale?: ScalePaths;
}

/** Simple paths into an object: `.spec.replicas`. */
export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

export interface SubresourceDefinition {
  readonly name: string;
  readonly verbs: readonly string[];
  /** The kind of the bodies it takes and gives. Where it is the parent's own, the generic verbs serve it. */
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
}

export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly priority: number;
  readonly description?: string;
  /** Custom resources: where the value is. */
  readonly jsonPath?: string;
}
