import {
  apiVersionOf,
  dns1123SubdomainErrors,
  type FieldError,
  invalid,
  type KindRef,
  type KubeObject,
  maskTrailingDash,
  type ObjectMeta,
  type Schema,
} from "@konverge/core";
import { isObject } from "../patch/index.ts";
import {
  applyDefaults,
  coerce,
  invalidValue,
  objectMetaErrors,
  required,
  type ScalePaths,
  validateValue,
} from "../structural/index.ts";
import type { WrittenObject } from "./definition.ts";
import { jsonCopy } from "./json-copy.ts";

/** Metadata of a new object, or just its name. */
export type NewMetadata = string | (Partial<ObjectMeta> & { name: string });

/** Metadata of an object that may yet have to get its name (generateName). */
export type DraftMetadata = string | Partial<ObjectMeta>;

/** The spec, which may be left out if all of it may be. */
export type SpecArguments<Input> = Record<never, never> extends Input ? [spec?: Input] : [spec: Input];

/** One version of a kind: a KindRef for the client's verbs, and what the schema makes possible. */
export interface KindVersion<T extends KubeObject, Input> extends KindRef<T> {
  /** The structural schema of whole objects. */
  readonly schema: Schema;
  readonly scale?: ScalePaths;
  /** A new object with its defaults filled in: `LLMModel.new("llama", { replicas: 3 })`. */
  readonly new: (metadata: NewMetadata, ...spec: SpecArguments<Input>) => T;
  /**
   * An object with nothing filled in. For server-side apply where somebody else may own a field that has a default: an
   * autoscaler the replicas, for instance.
   */
  readonly draft: (metadata: DraftMetadata, ...spec: SpecArguments<Input>) => WrittenObject<Input>;
  /** What an API server would find wrong with an object, after pruning and defaulting a copy of it. */
  readonly validate: (object: unknown, options?: { old?: unknown }) => FieldError[];
  /** A pruned, defaulted and validated copy of an object; throws the server's 422 when it is invalid. */
  readonly parse: (object: unknown) => T;
}

/** What a version is made from. */
export interface VersionFacts {
  group: string;
  version: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  schema: Schema;
  scale?: ScalePaths;
}

export function kindVersion<T extends KubeObject, Input>(facts: VersionFacts): KindVersion<T, Input> {
  const { group, version, kind, schema } = facts;
  const apiVersion = apiVersionOf({ group, version });
  const written = (metadata: DraftMetadata, spec: unknown = {}) => ({
    apiVersion,
    kind,
    metadata: typeof metadata === "string" ? { name: metadata } : jsonCopy(metadata),
    spec: jsonCopy(spec),
  });
  const prepared = (object: unknown) => {
    const copy = jsonCopy(object);
    const { error } = coerce(schema, copy);
    if (!error) applyDefaults(schema, copy);
    return { copy, error };
  };
  const errorsOf = ({ copy, error }: ReturnType<typeof prepared>, old?: unknown): FieldError[] => {
    if (error) return [error];
    const typeErrors = typeMetaErrors(copy, apiVersion, kind);
    if (typeErrors.length > 0) return typeErrors;
    const before = old === undefined ? undefined : prepared(old).copy;
    return [...rootMetadataErrors(copy), ...validateValue(schema, copy, { old: before, scale: facts.scale })];
  };
  return {
    ...facts,
    new: (metadata, ...[spec]) => applyDefaults(schema, written(metadata, spec)) as unknown as T,
    draft: (metadata, ...[spec]) => written(metadata, spec) as WrittenObject<Input>,
    validate: (object, options = {}) => errorsOf(prepared(object), options.old),
    parse(object) {
      const candidate = prepared(object);
      const errors = errorsOf(candidate);
      if (errors.length > 0) throw invalid({ group, kind }, nameOf(object), errors);
      return candidate.copy as T;
    },
  };
}

function typeMetaErrors(object: unknown, apiVersion: string, kind: string): FieldError[] {
  if (!isObject(object)) return [invalidValue("kind", "", `must be ${kind}`)];
  const errors: FieldError[] = [];
  if (object["kind"] !== kind) errors.push(invalidValue("kind", object["kind"] ?? "", `must be ${kind}`));
  if (object["apiVersion"] !== apiVersion) {
    errors.push(invalidValue("apiVersion", object["apiVersion"] ?? "", `must be ${apiVersion}`));
  }
  return errors;
}

/** An object that has no namespace yet gets one from whoever sends it. */
function rootMetadataErrors(object: unknown): FieldError[] {
  const metadata = (object as { metadata?: Partial<ObjectMeta> }).metadata;
  if (!isObject(metadata)) return [required("metadata.name", "name or generateName is required")];
  const { name, generateName, namespace } = metadata as Partial<ObjectMeta>;
  const isNamed = name !== undefined || generateName === undefined;
  return objectMetaErrors(
    isNamed ? metadata : { ...metadata, name: maskTrailingDash(generateName ?? "") },
    {
      namespaced: namespace !== undefined,
      nameErrors: (text, isPrefix) => dns1123SubdomainErrors(isPrefix ? maskTrailingDash(text) : text),
    },
    "metadata",
  );
}

function nameOf(object: unknown): string {
  const metadata = isObject(object) ? object["metadata"] : undefined;
  const name = isObject(metadata) ? metadata["name"] : undefined;
  return typeof name === "string" ? name : "";
}
