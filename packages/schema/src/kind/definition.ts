import type { Condition, KubeObject, ObjectMeta } from "@konverge/core";
import type { z } from "zod";
import type { CelRule } from "./annotations.ts";
import type { ColumnDefinition } from "./columns.ts";

/** One version of a kind. */
export interface VersionDefinition {
  /** What the user asks for. */
  readonly spec: z.core.$ZodType;
  /**
   * What the controller reports; makes it a subresource. `conditions` and `observedGeneration` are added unless it
   * declares them.
   */
  readonly status?: z.core.$ZodType;
  /** Columns of `kubectl get`, after the name. */
  readonly columns?: { readonly [header: string]: ColumnDefinition };
  /** CEL rules over the spec. */
  readonly rules?: readonly CelRule[];
  /** CEL rules over the whole object, where `self.metadata.name` and `self.status` are in reach. */
  readonly objectRules?: readonly CelRule[];
  /** The scale subresource: where replicas and selector are. Leave `status` replicas to the controller. */
  readonly scale?: ScaleDefinition;
  /** JSONPaths that a field selector may name, besides the object's name and namespace. */
  readonly selectableFields?: readonly string[];
  readonly served?: boolean;
  /** Warns whoever uses this version; a string is the warning's text. */
  readonly deprecated?: boolean | string;
  readonly description?: string;
}

export interface ScaleDefinition {
  readonly replicas: string;
  readonly statusReplicas: string;
  readonly selector?: string;
}

/** The versions of a kind by name. */
export interface VersionDefinitions {
  readonly [version: string]: VersionDefinition;
}

/** Objects of a kind made by `defineKind`, as the server returns them: defaults are applied. */
export interface CustomObject<Spec, Status = never> extends KubeObject {
  spec: Spec;
  status?: Status;
}

/** What every status has unless its definition declares it otherwise. */
export interface CommonStatus {
  conditions?: Condition[];
  observedGeneration?: number;
}

type Flat<T> = { [K in keyof T]: T[K] } & {};
type WithCommon<S> = Flat<S & Omit<CommonStatus, keyof S>>;

type Output<T> = T extends z.core.$ZodType ? z.core.output<T> : never;

/** The status type of a version. */
export type StatusOf<V extends VersionDefinition> = V["status"] extends z.core.$ZodType
  ? WithCommon<NonNullable<Output<V["status"]>>>
  : never;

/** The object type of a version. */
export type VersionObject<V extends VersionDefinition> = CustomObject<Output<V["spec"]>, StatusOf<V>>;

/** The spec as a user writes it: what has a default may be left out. */
export type SpecInput<V extends VersionDefinition> = z.core.input<V["spec"]>;

/** Metadata of a new object, or just its name. */
export type NewMetadata = string | (Partial<ObjectMeta> & { name: string });
