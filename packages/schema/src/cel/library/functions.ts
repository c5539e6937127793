/**
 * The functions that expressions in Kubernetes 1.36 can call: CEL's own, its optional types, strings, sets, lists and
 * two-variable loops, and Kubernetes' libraries. What Kubernetes does not switch on (math, bind) is not here either.
 *
 * The order counts: overloads of one function are tried in the order of their libraries.
 */
import { declareFunctions } from "../types/declarations.ts";
import type { Type } from "../types/types.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  INT,
  listType,
  mapType,
  NULL,
  opaqueType,
  STRING,
  TIMESTAMP,
  TYPE,
  typeParam,
  UINT,
} from "../types/types.ts";
import { authorizer } from "./authorizer.ts";
import { documents } from "./documents.ts";
import { formats } from "./formats.ts";
import { cidr, ip } from "./ip.ts";
import { jsonPatch } from "./json-patch.ts";
import { comprehensions, lists, listsExtension, sets } from "./lists.ts";
import { optionals } from "./optionals.ts";
import { quantity } from "./quantity.ts";
import { regex } from "./regex.ts";
import { semver } from "./semver.ts";
import { standard } from "./standard.ts";
import { strings } from "./strings.ts";
import { url } from "./url.ts";

const LIBRARIES = [
  standard,
  url,
  regex,
  lists,
  authorizer,
  optionals,
  quantity,
  strings,
  sets,
  ip,
  cidr,
  formats,
  comprehensions,
  semver,
  listsExtension,
];

// Declared by the first expression: most programs that import this compile none.
let functions: Functions | undefined;
let mutationFunctions: Functions | undefined;
let templateFunctions: Functions | undefined;

/** All functions of rules and policies. */
export function ruleFunctions(): Functions {
  functions ??= declareFunctions(LIBRARIES);
  return functions;
}

/** All functions of mutating policies. */
export function mutationRuleFunctions(): Functions {
  mutationFunctions ??= declareFunctions([...LIBRARIES, jsonPatch]);
  return mutationFunctions;
}

/** All functions of expressions in templates. */
export function templateExpressionFunctions(): Functions {
  templateFunctions ??= declareFunctions([...LIBRARIES, documents]);
  return templateFunctions;
}

type Functions = ReturnType<typeof declareFunctions>;

/**
 * The names that stand for types in expressions. `duration` and `timestamp` pass for types when an expression is checked,
 * but are unknown when it is planned: such expressions are refused only then.
 */
export const TYPE_NAMES: ReadonlyMap<string, Type> = new Map([
  ["bool", BOOL],
  ["bytes", BYTES],
  ["double", DOUBLE],
  ["duration", DURATION],
  ["google.protobuf.Duration", DURATION],
  ["int", INT],
  ["list", listType(typeParam("A"))],
  ["map", mapType(typeParam("A"), typeParam("B"))],
  ["net.CIDR", opaqueType("net.CIDR")],
  ["net.IP", opaqueType("net.IP")],
  ["null_type", NULL],
  ["optional_type", opaqueType("optional_type")],
  ["string", STRING],
  ["timestamp", TIMESTAMP],
  ["google.protobuf.Timestamp", TIMESTAMP],
  ["type", TYPE],
  ["uint", UINT],
]);
