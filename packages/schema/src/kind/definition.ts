import type { Condition, DeepReadonly, KubeObject, MadeByKind, ObjectMeta } from "@konverge/core";
import type { z } from "zod";
import type { CelRule } from "./annotations.ts";
import type { PrinterColumnDefinition } from "./columns.ts";

/** The definition of a kind. */
export interface KindDefinition<V extends VersionDefinitions, S extends keyof V & string> {
  /** The API group, a domain of yours: `ai.example.com`. */
  readonly group: string;
  readonly kind: string;
  readonly versions: V;
  /** The version in which objects are stored, whose type `ObjectOf` is. Default: the only version. */
  readonly stored?: S;
  /** Conversion between the other versions and the stored one. Versions without one must have the same fields. */
  readonly conversion?: VersionConversions<V, S>;
  /** The resource's name in URLs. Default: the plural of the kind in lower case. */
  readonly plural?: string;
  readonly singular?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  /** Groups of kinds that `kubectl get` lists together, such as `all`. */
  readonly categories?: readonly string[];
  readonly scope?: "Namespaced" | "Cluster";
  readonly description?: string;
  /** Labels of the CRD itself. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Annotations of the CRD itself. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** One version of a kind. */
export interface VersionDefinition {
  /** The desired state, as the user writes it. */
  readonly spec: z.core.$ZodType;
  /**
   * The status, which becomes a subresource. `conditions` and `observedGeneration` are added unless it declares them.
   */
  readonly status?: z.core.$ZodType;
  /** Columns of `kubectl get`, after the name. */
  readonly columns?: { readonly [header: string]: PrinterColumnDefinition };
  /** CEL rules in which `self` is the spec. */
  readonly rules?: readonly CelRule[];
  /** CEL rules in which `self` is the whole object, with `self.metadata.name` and `self.status`. */
  readonly objectRules?: readonly CelRule[];
  /** Makes objects scalable with `kubectl scale` and by autoscalers. */
  readonly scale?: ScaleDefinition;
  /** Paths that field selectors can use, such as `.spec.node`, besides the object's name and namespace. */
  readonly selectableFields?: readonly string[];
  /** Whether the API server serves this version. Default: true. */
  readonly served?: boolean;
  /** Warns clients that use this version; a string is the text of the warning. */
  readonly deprecated?: boolean | string;
  readonly description?: string;
}

/** The paths of the scale subresource. */
export interface ScaleDefinition {
  /** Path of the desired number of replicas: `.spec.replicas`. */
  readonly replicas: string;
  /** Path of the actual number: `.status.replicas`. */
  readonly statusReplicas: string;
  /** Path of a label selector for the pods, as a string. Autoscalers need it. */
  readonly selector?: string;
}

/** The versions of a kind by name. */
export interface VersionDefinitions {
  readonly [version: string]: VersionDefinition;
}

/** Objects of a kind, as the server returns them: defaults are applied. */
export interface CustomObject<Spec, Status = never> extends KubeObject {
  readonly spec: Spec;
  readonly status?: Status | undefined;
}

/** An object as `Kind.draft` takes it: fields with a default are optional, and so is a spec with only such fields. */
export type WrittenObject<Spec> = { readonly metadata: ObjectMeta } & (Record<never, never> extends Spec
  ? { readonly spec?: Spec }
  : { readonly spec: Spec });

/** The status, which `Kind.new` takes as well: a test may need an object that has one. */
export type WrittenStatus<T> = T extends { status?: infer Status } ? { readonly status?: Status } : unknown;

/** What `Kind.draft` returns. */
export type DraftedObject<T, Written> = Written & Pick<KubeObject, "apiVersion" | "kind"> & MadeByKind<T>;

/** The fields of every status, unless its definition declares them. */
export interface CommonStatus {
  readonly conditions?: readonly Condition[] | undefined;
  readonly observedGeneration?: number | undefined;
}

type WithCommon<S> = DeepReadonly<S & Omit<CommonStatus, keyof S>>;

/** The status type of a version; `never` if it has none. */
export type StatusOf<V extends VersionDefinition> = V["status"] extends z.core.$ZodType
  ? WithCommon<NonNullable<z.core.output<V["status"]>>>
  : never;

/** The spec type of a version: defaults are applied. */
export type SpecOf<V extends VersionDefinition> = DeepReadonly<z.core.output<V["spec"]>>;

/** The spec as a user writes it: fields with a default are optional. */
export type SpecInput<V extends VersionDefinition> = DeepReadonly<z.core.input<V["spec"]>>;

/** Conversions of all versions but the stored one. */
export type VersionConversions<V extends VersionDefinitions, S extends keyof V & string> = {
  readonly [K in Exclude<keyof V & string, S>]?: VersionConversion<V[K], V[S]>;
};

/** Converts between a version and the stored one. What one direction drops, the other cannot restore. */
export interface VersionConversion<Version extends VersionDefinition, Stored extends VersionDefinition> {
  toStored(object: CustomObject<SpecOf<Version>, StatusOf<Version>>): ConvertedObject<Stored>;
  fromStored(object: CustomObject<SpecOf<Stored>, StatusOf<Stored>>): ConvertedObject<Version>;
}

/**
 * The result of a conversion. Labels and annotations stay the same unless it has them; an empty map, or `undefined`, removes
 * them all.
 */
export interface ConvertedObject<V extends VersionDefinition> {
  readonly spec: SpecInput<V>;
  readonly status?: StatusOf<V> | undefined;
  readonly metadata?: Pick<ObjectMeta, "labels" | "annotations"> | undefined;
}
