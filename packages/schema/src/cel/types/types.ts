/** The static types of expressions. */

/** What sort of type it is. */
export type TypeKind =
  | "any"
  | "bool"
  | "bytes"
  | "double"
  | "duration"
  | "dyn"
  | "error"
  | "int"
  | "list"
  | "map"
  | "null"
  | "opaque"
  | "param"
  | "string"
  | "struct"
  | "timestamp"
  | "type"
  | "uint";

/** A type: of a value, a variable or an argument. */
export interface Type {
  readonly kind: TypeKind;
  /** The name at run time: of the kind, of the struct, or of the parameter. */
  readonly name: string;
  /** A list's element; a map's key and value; an optional's value; the type of a type. */
  readonly params: readonly Type[];
}

const simple = (kind: TypeKind, name: string = kind): Type => ({ kind, name, params: [] });

/** The simple types, by their names. */
export const ANY = simple("any", "google.protobuf.Any");
export const BOOL = simple("bool");
export const BYTES = simple("bytes");
export const DOUBLE = simple("double");
export const DURATION = simple("duration", "google.protobuf.Duration");
export const DYN = simple("dyn");
export const ERROR = simple("error");
export const INT = simple("int");
export const NULL = simple("null", "null_type");
export const STRING = simple("string");
export const TIMESTAMP = simple("timestamp", "google.protobuf.Timestamp");
export const TYPE = simple("type");
export const UINT = simple("uint");

/** A list of one type of element. */
export const listType = (element: Type): Type => ({ kind: "list", name: "list", params: [element] });
/** A map of one type of key and one of value. */
export const mapType = (key: Type, value: Type): Type => ({ kind: "map", name: "map", params: [key, value] });
/** An optional of a type. */
export const optionalType = (value: Type): Type => opaqueType("optional_type", value);
/** A type that a library brings. */
export const opaqueType = (name: string, ...params: Type[]): Type => ({ kind: "opaque", name, params });
/** A type with fields, which its declaration knows. */
export const structType = (name: string): Type => simple("struct", name);
/** A type that a signature leaves open. */
export const typeParam = (name: string): Type => simple("param", name);
/** The type of a type. */
export const typeType = (of: Type): Type => ({ kind: "type", name: "type", params: [of] });

/** Whether nothing is known about the type before the evaluation. */
export function isDyn(type: Type): boolean {
  return type.kind === "dyn" || type.kind === "any";
}

/** The same, or nothing needs to be known since an error has been reported. */
export function isDynOrError(type: Type): boolean {
  return type.kind === "error" || isDyn(type);
}

/** Whether the type is that of an optional. */
export function isOptional(type: Type): boolean {
  return type.kind === "opaque" && type.name === "optional_type";
}

/** The same type, parameter names included. */
export function sameType(a: Type, b: Type): boolean {
  return compareTypes(a, b, true);
}

/** The same type, whatever type parameters are called. */
export function equivalentType(a: Type, b: Type): boolean {
  return compareTypes(a, b, false);
}

function compareTypes(a: Type, b: Type, checkNames: boolean): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.params.length !== b.params.length) return false;
  if ((checkNames || a.kind !== "param") && a.name !== b.name) return false;
  return a.params.every((param, i) => compareTypes(param, b.params[i]!, checkNames));
}

/** As messages about types write them: `list(int)`, `map(string, dyn)`, `timestamp`. */
export function formatType(type: Type): string {
  switch (type.kind) {
    case "any":
    case "duration":
    case "null":
    case "timestamp":
      return type.kind;
    case "error":
      return "!error!";
  }
  return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(formatType).join(", ")})`;
}

/** As messages about the results of policy expressions write them: `google.protobuf.Timestamp`, `list(<T>)`. */
export function describeType(type: Type): string {
  if (type.kind === "param") return `<${type.name}>`;
  return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(describeType).join(", ")})`;
}

/** The types that a call was made with: `(string, int)`, `string.(int)`. */
export function formatSignature(args: readonly Type[], isMethod: boolean): string {
  const [target, ...rest] = args;
  return isMethod
    ? `${formatType(target!)}.(${rest.map(formatType).join(", ")})`
    : `(${args.map(formatType).join(", ")})`;
}
