import {
  apiVersionOf,
  dns1123SubdomainErrors,
  type FieldError,
  invalid,
  isObject,
  type KindRef,
  type KubeObject,
  type MadeByKind,
  madeBy,
  maskTrailingDash,
  type NoOtherFields,
  type ObjectMeta,
  type Schema,
} from "@konverge/core";
import { coerce } from "../structural/coerce.ts";
import { applyDefaults } from "../structural/defaulting.ts";
import { invalidValue, required } from "../structural/field-errors.ts";
import { objectMetaErrors } from "../structural/object-meta.ts";
import type { ScalePaths } from "../structural/scale-paths.ts";
import { validateValue } from "../validation/validate.ts";
import type { DraftedObject, WrittenStatus } from "./definition.ts";
import { jsonCopy } from "./json-copy.ts";

/** One version of a kind: a KindRef for the client's verbs, and methods that use its schema. */
export interface KindVersion<T extends KubeObject, Written> extends KindRef<T> {
  /** The structural schema of whole objects. */
  readonly schema: Schema;
  readonly scale?: ScalePaths;
  /** A new object with its defaults filled in: `LLMModel.new({ metadata: { name: "llama" }, spec: { replicas: 3 } })`. */
  readonly new: <D extends Written & WrittenStatus<T>>(
    object: D & NoOtherFields<Written & WrittenStatus<T>, D>,
  ) => T & MadeByKind<T>;
  /**
   * An object to apply, such as a child: with its apiVersion and kind, and nothing else filled in. Another manager may own a
   * field that has a default: an autoscaler the replicas, for instance.
   */
  readonly draft: <D extends Written>(object: D & NoOtherFields<Written, D>) => DraftedObject<T, Written>;
  /** The field errors that an API server would return for an object, after it has pruned and defaulted a copy. */
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

export function kindVersion<T extends KubeObject, Written>(facts: VersionFacts): KindVersion<T, Written> {
  const { group, version, kind, schema } = facts;
  const apiVersion = apiVersionOf({ group, version });
  const typed = (object: Written) => ({ apiVersion, kind, ...jsonCopy(object) });
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
    new: (object) => madeBy(facts, withDefaults(schema, typed(object))) as unknown as T & MadeByKind<T>,
    draft: (object) => madeBy(facts, typed(object)) as DraftedObject<T, Written>,
    validate: (object, options = {}) => errorsOf(prepared(object), options.old),
    parse(object) {
      const candidate = prepared(object);
      const errors = errorsOf(candidate);
      if (errors.length > 0) throw invalid({ group, kind }, nameOf(object), errors);
      return candidate.copy as T;
    },
  };
}

/** A new object lacks what only a server sets: that it has not been observed yet. */
function withDefaults(schema: Schema, object: object): object {
  const hasStatus = "status" in object;
  const { status, ...made } = applyDefaults(schema, object) as { status?: unknown };
  return hasStatus ? { ...made, status } : made;
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

/** An object that has no namespace yet gets one from the client that sends it. */
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
