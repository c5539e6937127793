import { apiVersionOf, type GroupVersionKind, quoted } from "@konverge/core";
import { isObject } from "@konverge/schema/patch";
import type { Call } from "../call/call.ts";
import { knownKind } from "../call/known-kinds.ts";
import { DecodeError } from "../codec/decode-error.ts";
import { jsonKind } from "../codec/go-values.ts";

/** What an object says of its type, empty where it says nothing. */
export interface DeclaredType {
  readonly apiVersion: string;
  readonly kind: string;
}

/** How a real server names the register of kinds that it has looked in. */
const SCHEME = 'in scheme "pkg/runtime/scheme.go:111"';

/** The Go type that a JSON text is read into to find its kind. */
const TYPE_STRUCT = `struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;

/**
 * What a JSON value says of its type. Go's decoder finds both fields in any case of letters, and of several the last one
 * that is not null counts. Throws a DecodeError where they cannot be read at all.
 */
export function declaredType(value: unknown): DeclaredType {
  const declared = { apiVersion: "", kind: "" };
  if (value === null) return declared;
  if (!isObject(value)) throw unreadable(`${jsonKind(value)} into Go value of type ${TYPE_STRUCT}`);
  for (const key of Object.keys(value)) {
    const name = typeField(key);
    if (!name) continue;
    const text = value[key];
    if (text === null || text === undefined) continue;
    if (typeof text !== "string") throw unreadable(`${jsonKind(text)} into Go struct field .${name} of type string`);
    declared[name] = text;
  }
  if (declared.apiVersion.split("/").length > 2) {
    throw new DecodeError(`unexpected GroupVersion string: ${declared.apiVersion}`);
  }
  return declared;
}

function typeField(key: string): keyof DeclaredType | undefined {
  if (key.length === 4) return /^kind$/iu.test(key) ? "kind" : undefined;
  return key.length === 10 && /^apiVersion$/iu.test(key) ? "apiVersion" : undefined;
}

function unreadable(what: string): DecodeError {
  return new DecodeError(`couldn't get version/kind; json parse error: json: cannot unmarshal ${what}`);
}

/** Why a body of one type cannot be read as one of another; undefined when it can. */
export function typeProblem(
  { definition, registry: { facts } }: Call,
  expected: GroupVersionKind,
  actual: GroupVersionKind,
): string | undefined {
  const [given, wanted] = [apiVersionOf(actual), apiVersionOf(expected)];
  if (definition.custom || (given === wanted && actual.kind === expected.kind)) return undefined;
  if (!knownKind(actual, facts)) return notRegistered(actual.kind, given);
  if (actual.kind === expected.kind && actual.group === expected.group) return undefined;
  const target = `${knownKind(expected, facts)?.internal ?? expected.group}.${expected.kind}`;
  return `converting (${actual.version}.${actual.kind}) to (${target}): unknown conversion`;
}

export function notRegistered(kind: string, apiVersion: string): string {
  return `no kind ${quoted(kind)} is registered for version ${quoted(apiVersion)} ${SCHEME}`;
}
