import type { AnyObject, FieldError, Schema } from "@konverge/core";

/** A resource as the server serves it, whether built in or from a CRD: what the generic verbs need to know about it. */
export interface ResourceDefinition {
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly storageVersion: string;
  /** Served versions by name, in order of preference. */
  readonly versions: ReadonlyMap<string, ResourceVersion>;
  readonly strategy: Strategy;
  /** From a CRD: no unconditional updates, no strategic merge, validation by schema alone. */
  readonly custom: boolean;
  /** The collection in the store. Two groups that serve the same objects (events) share one. */
  readonly storage: string;
  /** Between served versions. The identity where there is one version. */
  convert(objects: readonly AnyObject[], version: string): readonly AnyObject[] | Promise<readonly AnyObject[]>;
}

export interface ResourceVersion {
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly verbs: readonly string[];
  readonly schema: Schema;
  readonly subresources: ReadonlyMap<string, SubresourceDefinition>;
  readonly columns: readonly ColumnDefinition[];
  /** The values that field selectors may ask for, besides metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[];
  readonly deprecation?: string;
}

export interface SubresourceDefinition {
  readonly name: string;
  readonly verbs: readonly string[];
  /** The kind of the bodies it takes and gives, where it is not the parent's own. */
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

/** What a strategy may know beyond the objects. */
export interface StrategyContext {
  readonly now: string;
  readonly subresource: string;
  readonly user: string;
}

/**
 * What is special about a kind: one small file for each that has anything. Objects are drafts the strategy may change,
 * in the stored version; `old` is never changed.
 */
export interface Strategy {
  /** Defaults that are computed rather than constant (constants are in the schema). */
  defaults?(object: AnyObject): void;
  /** Before a create: drops what clients may not set (status), allocates what the server chooses. */
  prepareForCreate?(object: AnyObject, context: StrategyContext): void;
  /** Before an update: keeps what this request may not change. */
  prepareForUpdate?(object: AnyObject, old: AnyObject, context: StrategyContext): void;
  validate?(object: AnyObject, context: StrategyContext): FieldError[];
  validateUpdate?(object: AnyObject, old: AnyObject, context: StrategyContext): FieldError[];
  /** Texts for Warning headers. */
  warnings?(object: AnyObject, old?: AnyObject): string[];
  /** The top-level fields that belong to the status subresource. Default: `status` where that subresource exists. */
  readonly statusFields?: readonly string[];
  /** Kinds whose metadata.generation counts spec changes. */
  readonly hasGeneration?: boolean;
  readonly allowUnconditionalUpdate?: boolean;
  readonly allowCreateOnUpdate?: boolean;
  /** Grace period in seconds for this deletion; 0 means at once. */
  gracePeriod?(object: AnyObject, requested: number | undefined): number;
  /** The values of the selectable fields. */
  fields?(object: AnyObject): Record<string, string>;
}
