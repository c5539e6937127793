import { isObject, type JsonObject, quoted } from "@konverge/core";
import { put } from "../json-value.ts";
import { isInt64, isNumeric } from "./numbers.ts";

/**
 * ObjectMeta is not described by a custom resource's schema: servers decode it into a struct of theirs. This does the
 * same to metadata wherever it stands: fields that the struct does not have are dropped, and so are zero values.
 */
export interface DecodedMetadata {
  metadata: JsonObject;
  /** Fields that were dropped because there are none of that name: `labls`, `ownerReferences[0].nme`. */
  unknown: string[];
}

/** Metadata that does not fit the struct. The message is the decoder's own. */
export class MetadataError extends Error {
  override readonly name = "MetadataError";
}

/** Decodes metadata. Fields of it that do not fit are dropped, or refused: it throws a {@link MetadataError}. */
export function decodeMetadata(metadata: unknown, misfits: "dropped" | "refused" = "refused"): DecodedMetadata {
  const unknown: string[] = [];
  const place = { owner: "", field: "", path: "", unknown };
  const fitting = misfits === "dropped" && isObject(metadata) ? withoutMisfits(metadata) : metadata;
  const decoded = decode(OBJECT_META, fitting, place);
  return { metadata: (decoded as JsonObject | undefined) ?? {}, unknown };
}

function withoutMisfits(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([name, value]) => fits({ [name]: value })));
}

function fits(metadata: JsonObject): boolean {
  try {
    decode(OBJECT_META, metadata, { owner: "", field: "", path: "", unknown: [] });
    return true;
  } catch (error) {
    if (!(error instanceof MetadataError)) throw error;
    return false;
  }
}

type Shape =
  | "string"
  | "int64"
  | "bool"
  | "time"
  | "any"
  | Struct
  | { mapOf: "string" }
  | { listOf: Shape; type: string };

interface Struct {
  struct: string;
  fields: Record<string, Shape>;
}

const OWNER_REFERENCE: Struct = {
  struct: "OwnerReference",
  fields: {
    apiVersion: "string",
    kind: "string",
    name: "string",
    uid: "string",
    controller: "bool",
    blockOwnerDeletion: "bool",
  },
};

const MANAGED_FIELDS: Struct = {
  struct: "ManagedFieldsEntry",
  fields: {
    manager: "string",
    operation: "string",
    apiVersion: "string",
    time: "time",
    fieldsType: "string",
    fieldsV1: "any",
    subresource: "string",
  },
};

const OBJECT_META: Struct = {
  struct: "ObjectMeta",
  fields: {
    name: "string",
    generateName: "string",
    namespace: "string",
    selfLink: "string",
    uid: "string",
    resourceVersion: "string",
    generation: "int64",
    creationTimestamp: "time",
    deletionTimestamp: "time",
    deletionGracePeriodSeconds: "int64",
    labels: { mapOf: "string" },
    annotations: { mapOf: "string" },
    ownerReferences: { listOf: OWNER_REFERENCE, type: "[]v1.OwnerReference" },
    finalizers: { listOf: "string", type: "[]string" },
    managedFields: { listOf: MANAGED_FIELDS, type: "[]v1.ManagedFieldsEntry" },
  },
};

/** Fields that are pointers in the struct, so that their zero values are kept. */
const POINTERS = new Set(["controller", "blockOwnerDeletion", "deletionGracePeriodSeconds"]);
/** Fields of an owner reference that are written even when empty. */
const ALWAYS_WRITTEN = new Set([
  "OwnerReference.apiVersion",
  "OwnerReference.kind",
  "OwnerReference.name",
  "OwnerReference.uid",
]);

interface Place {
  /** The struct that holds the field, and the path to the field in it, as the decoder's messages have it. */
  owner: string;
  field: string;
  /** The path in the metadata, for what is unknown. */
  path: string;
  unknown: string[];
}

/** The decoded value; undefined when there is nothing to write. */
function decode(shape: Shape, value: unknown, place: Place): unknown {
  if (shape === "any") return value ?? undefined;
  if (value === null || value === undefined) return undefined;
  if (shape === "string") return typeof value === "string" ? value : mismatch(value, "string", place);
  if (shape === "bool") return typeof value === "boolean" ? value : mismatch(value, "bool", place);
  if (shape === "int64") return isNumeric(value) && isInt64(value) ? value : mismatch(value, "int64", place);
  if (shape === "time") return decodeTime(value);
  if ("mapOf" in shape) return decodeMap(value, place);
  if ("listOf" in shape) return decodeList(shape, value, place);
  return decodeStruct(shape, value, place);
}

function decodeStruct({ struct, fields }: Struct, value: unknown, place: Place): JsonObject | undefined {
  if (!isObject(value)) return mismatch(value, `v1.${struct}`, place);
  const decoded: JsonObject = {};
  for (const name of Object.keys(value)) {
    const shape = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const path = place.path === "" ? name : `${place.path}.${name}`;
    if (shape === undefined) {
      place.unknown.push(path);
      continue;
    }
    const field = place.field === "" ? name : `${place.field}.${name}`;
    const inner = decode(shape, value[name], { ...place, owner: struct, field, path });
    if (inner !== undefined && (!isZero(inner) || POINTERS.has(name))) decoded[name] = inner;
  }
  for (const name of Object.keys(fields)) {
    if (ALWAYS_WRITTEN.has(`${struct}.${name}`)) decoded[name] ??= "";
  }
  return decoded;
}

function decodeMap(value: unknown, place: Place): JsonObject | undefined {
  if (!isObject(value)) return mismatch(value, "map[string]string", place);
  const decoded: JsonObject = {};
  for (const name of Object.keys(value)) put(decoded, name, decode("string", value[name], place) ?? "");
  return decoded;
}

function decodeList(shape: { listOf: Shape; type: string }, value: unknown, place: Place): unknown[] | undefined {
  if (!Array.isArray(value)) return mismatch(value, shape.type, place);
  return value.map((item, index) => {
    const decoded = decode(shape.listOf, item, { ...place, path: `${place.path}[${index}]` });
    return decoded ?? (shape.listOf === "string" ? "" : decodeStruct(shape.listOf as Struct, {}, place));
  });
}

function decodeTime(value: unknown): string {
  if (typeof value !== "string") {
    throw new MetadataError(`json: cannot unmarshal ${jsonName(value)} into Go value of type string`);
  }
  const match = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$/.test(
    value,
  );
  const time = match ? Date.parse(value.replace(",", ".")) : Number.NaN;
  if (Number.isNaN(time)) {
    throw new MetadataError(
      `parsing time ${quoted(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted(value)} as "2006"`,
    );
  }
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

function mismatch(value: unknown, type: string, { owner, field }: Place): never {
  const where = owner === "" ? `Go value of type ${type}` : `Go struct field ${owner}.${field} of type ${type}`;
  throw new MetadataError(`json: cannot unmarshal ${jsonName(value)} into ${where}`);
}

function jsonName(value: unknown): string {
  if (typeof value === "boolean") return "bool";
  if (isNumeric(value)) return "number";
  if (typeof value === "string") return "string";
  return Array.isArray(value) ? "array" : "object";
}

function isZero(value: unknown): boolean {
  if (value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}
