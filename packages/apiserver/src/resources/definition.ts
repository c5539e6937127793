import type { Clock, FieldError, Schema } from "@konverge/core";
import type { NameRule } from "@konverge/schema";
import type { User } from "../auth/user.ts";
import type { Codec } from "../codec/codec.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { DeleteOptions } from "../http/query.ts";
import type { Store } from "../storage/store.ts";

export type { FieldError, NameRule };

/** A resource as the server serves it, whether built in or from a CRD: what the generic verbs need to know about it. */
export interface ResourceDefinition {
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** The version of its group in which objects are stored, as discovery shows it. */
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
  /** The Warning header for clients that use this version. */
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

/** What a strategy may know beyond the objects. */
export interface StrategyContext {
  /** The current time as objects have it. */
  readonly now: string;
  /** Empty for the object itself; else `status`, `scale`, `finalize` … */
  readonly subresource: string;
  readonly user: string;
  readonly call: StrategyCall;
}

/** What a strategy may use of the request. */
export interface StrategyCall {
  readonly store: Store;
  readonly clock: Clock;
  readonly registry: { get(group: string, plural: string): ResourceDefinition | undefined };
  readonly version: ResourceVersion;
  readonly user: User;
  readonly dryRun: boolean;
  warn(text: string): void;
}

/**
 * What is special about a kind: one small file for each that has anything. Objects are in the stored version for built-in
 * kinds, and in the version of the request for custom ones; they are drafts that a strategy may change, `old` never is.
 * Everything in them that Go would write is there: structs that are no pointers, zero values without omitempty.
 *
 * On a create the order is prepareForCreate, validation of metadata, validate, warnings, canonicalize; on an update
 * prepareForUpdate, validation of metadata and of its changes, validate, validateUpdate, warnings, canonicalize.
 */
export interface Strategy {
  /** Before constant defaults are filled in: what depends on whether a field was there at all. */
  presets?(object: WorkingObject): void;
  /** Defaults that are computed rather than constant (constants are in the schema), in the version it is given. */
  defaults?(object: WorkingObject): void;
  /** Before a create: drops what clients may not set (status), allocates what the server chooses. */
  prepareForCreate?(object: WorkingObject, context: StrategyContext): void;
  /** Before an update: keeps what this request may not change. `status` is kept apart already. */
  prepareForUpdate?(object: WorkingObject, old: WorkingObject, context: StrategyContext): void;
  /** What a name may look like. Default: a DNS subdomain. */
  readonly nameErrors?: NameRule;
  /**
   * What an update of this kind finds wrong with metadata besides what it does for every kind: its `changes` again,
   * all of it as on a `new` object, or both. The causes of an error then come several times.
   */
  readonly metadataChecks?: readonly ("changes" | "new")[];
  /** Called on creates and, unless there is {@link validateChange}, on updates. */
  validate?(object: WorkingObject, context: StrategyContext): FieldError[];
  /** Called on updates, besides {@link validate}. */
  validateUpdate?(object: WorkingObject, old: WorkingObject, context: StrategyContext): FieldError[];
  /** Called on updates instead of both. */
  validateChange?(object: WorkingObject, old: WorkingObject, context: StrategyContext): FieldError[];
  /** Instead of {@link validate} and {@link validateUpdate}, for writes to the status subresource. */
  validateStatusUpdate?(object: WorkingObject, old: WorkingObject, context: StrategyContext): FieldError[];
  /** Texts for Warning headers. */
  warnings?(object: WorkingObject, context: StrategyContext, old?: WorkingObject): string[];
  /** Texts for the Warning headers of a delete, whether or not there is anything to delete. */
  warningsOnDelete?(options: DeleteOptions): string[];
  /** After validation: puts equal objects into one form. */
  canonicalize?(object: WorkingObject): void;
  /** A status that comes with a new object is kept: nodes report themselves. */
  readonly createsStatus?: boolean;
  /** The top-level fields that belong to the status subresource. Default: `status` where that subresource exists. */
  readonly statusFields?: readonly string[];
  /**
   * Fields that no manager owns by writing to the object ("") or to one of its subresources, as paths such as `status` or
   * `metadata.labels`. Default: `status` for the object, `spec` for its status, where the kind has that subresource.
   */
  resetFields?(subresource: string): readonly string[];
  /** Kinds whose metadata.generation counts changes of what is desired. */
  readonly hasGeneration?: boolean;
  /** Whether an update changes what is desired. Default: whether anything but metadata and status differs. */
  changesGeneration?(object: WorkingObject, old: WorkingObject): boolean;
  readonly allowUnconditionalUpdate?: boolean;
  readonly allowCreateOnUpdate?: boolean;
  /** Grace period in seconds for this deletion; undefined where the kind has none, 0 means at once. */
  gracePeriod?(object: WorkingObject, requested: number | undefined): number | undefined;
  /** Why an object of this name cannot be deleted, whether or not it is there. */
  undeletable?(name: string): string | undefined;
  /** What becomes of dependents when a deletion does not say. `unsupported`: the garbage collector has no say at all. */
  readonly dependents?: "delete" | "orphan" | "unsupported";
  /** The answer to a delete is the object, where that of most kinds is a Status. */
  readonly returnsDeleted?: boolean;
  /** Something other than metadata.finalizers keeps an object that is being deleted (a namespace's own finalizers). */
  isHeld?(object: WorkingObject): boolean;
  /**
   * Kinds whose objects a first delete never removes, only marks: what else is to be changed besides deletionTimestamp. The
   * object then stays until its finalizers are removed and {@link isHeld} releases it.
   */
  markDeleted?(object: WorkingObject, options: DeleteOptions, context: StrategyContext): void;
  /** The values of the selectable fields. */
  fields?(object: WorkingObject): Record<string, string>;
  /** Calls of other parts (allocations): an object has been stored, changed, removed. */
  afterWrite?(object: WorkingObject | undefined, old: WorkingObject | undefined, context: StrategyContext): void;
}
