/** What an expression may refer to: functions with their overloads, variables, and types with fields. */

import type { Value } from "../values/values.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  opaqueType,
  optionalType,
  STRING,
  structType,
  TIMESTAMP,
  TYPE,
  type Type,
  typeParam,
  typeType,
  UINT,
} from "./types.ts";

/** A function for certain types of arguments. */
export interface Overload {
  readonly id: string;
  /** The arguments' types; of a method, the target's first. */
  readonly args: readonly Type[];
  readonly result: Type;
  readonly isMethod: boolean;
  /** Names of the type parameters in the signature. */
  readonly params: readonly string[];
  readonly run?: (...args: Value[]) => Value;
}

/** A function with all its overloads. */
export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** One implementation for all overloads: it looks at its arguments' types itself. */
  readonly run?: (...args: Value[]) => Value;
  /** The implementation checks its arguments itself, whatever the overload says. */
  readonly isUnguarded: boolean;
}

/** `[id, signature, implementation]`, the signature as in `string.charAt(int): string` or `size(list(A)): int`. */
export type OverloadSpec = readonly [id: string, signature: string, run?: (...args: never[]) => Value];

/** Functions that belong together. */
export interface Library {
  readonly overloads: readonly OverloadSpec[];
  /** Implementations shared by all overloads of a function, by its name. */
  readonly shared?: Readonly<Record<string, (...args: never[]) => Value>>;
  readonly unguarded?: readonly string[];
}

/** The functions of libraries by name; overloads of the same function come in the order of the libraries. */
export function declareFunctions(libraries: readonly Library[]): Map<string, FunctionDeclaration> {
  const functions = new Map<string, FunctionDeclaration>();
  for (const { overloads, shared = {}, unguarded = [] } of libraries) {
    for (const [id, text, run] of overloads) {
      const { name, ...signature } = parseSignature(text);
      const known = functions.get(name);
      functions.set(name, {
        name,
        overloads: [...(known?.overloads ?? []), { id, ...signature, run: run as Overload["run"] }],
        run: known?.run ?? (shared[name] as FunctionDeclaration["run"]),
        isUnguarded: known?.isUnguarded || unguarded.includes(name),
      });
    }
  }
  return functions;
}

/** A type that values can be built of or fields selected from. */
export interface StructDeclaration {
  readonly type: Type;
  field(name: string): Type | undefined;
  /** Builds a value; types that cannot be built in expressions have none. */
  readonly build?: (fields: ReadonlyMap<string, Value>) => Value;
}

/** Everything an expression may refer to. */
export interface Declarations {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly variables: ReadonlyMap<string, Type>;
  /** Names that stand for types, as in `type(x) == int`. */
  readonly typeNames: ReadonlyMap<string, Type>;
  struct(name: string): StructDeclaration | undefined;
}

const NAMED: Record<string, Type> = {
  bool: BOOL,
  bytes: BYTES,
  double: DOUBLE,
  duration: DURATION,
  dyn: DYN,
  int: INT,
  string: STRING,
  timestamp: TIMESTAMP,
  type: TYPE,
  uint: UINT,
};

/** Reads a type as signatures write it. Single capital letters are type parameters. */
export function parseType(text: string): Type {
  const open = text.indexOf("(");
  if (open < 0) {
    if (NAMED[text]) return NAMED[text];
    if (/^[A-Z]$/.test(text)) return typeParam(text);
    return text.startsWith("net.") ? opaqueType(text) : structType(text);
  }
  const params = splitArguments(text.slice(open + 1, -1)).map(parseType);
  switch (text.slice(0, open)) {
    case "list":
      return listType(params[0]!);
    case "map":
      return mapType(params[0]!, params[1]!);
    case "optional":
      return optionalType(params[0]!);
    case "type":
      return typeType(params[0]!);
    default:
      throw new Error(`no such type: ${text}`);
  }
}

/** Splits at the commas that are not inside parentheses. */
function splitArguments(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (const c of text) {
    if (c === "(") depth++;
    if (c === ")") depth--;
    if (c === "," && depth === 0) {
      parts.push(part.trim());
      part = "";
    } else part += c;
  }
  return part.trim() === "" ? parts : [...parts, part.trim()];
}

const SIGNATURE = /^(?:(.+)\.)?([^.()\s]+)\((.*)\): (.+)$/;

function parseSignature(text: string): { name: string } & Omit<Overload, "id" | "run"> {
  const match = SIGNATURE.exec(text.replace("_?._", "optional._?._"));
  if (!match) throw new Error(`not a signature: ${text}`);
  const [, before, simpleName, args, result] = match as unknown as [string, string | undefined, string, string, string];
  // `sets.contains(…)` is a function with a dot in its name, `list(T).sort()` a method of a type.
  const isMethod = before !== undefined && !NAMESPACES.has(before);
  const types = splitArguments(args);
  return {
    name: before !== undefined && !isMethod ? `${before}.${simpleName}` : simpleName,
    args: (isMethod ? [before, ...types] : types).map(parseType),
    result: parseType(result),
    isMethod,
    params: [...new Set(text.match(/\b[A-Z]\b/g))],
  };
}

/** Prefixes of function names that are no types. */
const NAMESPACES = new Set([
  "base64",
  "cel",
  "format",
  "hash",
  "ip",
  "json",
  "jsonpatch",
  "lists",
  "optional",
  "sets",
  "strings",
]);
