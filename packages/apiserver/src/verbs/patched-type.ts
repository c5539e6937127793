import { apiVersionOf, type JsonObject, parseApiVersion } from "@konverge/core";
import type { Call } from "../call/call.ts";
import { DecodeError } from "../codec/decode-error.ts";
import { ownKind } from "./body.ts";
import { declaredType, typeProblem } from "./declared-type.ts";

/** What an object of the resource's kind says that it is: the decoder puts it there, whatever stood there. */
export function ownType(call: Call): { apiVersion: string; kind: string } {
  const own = ownKind(call);
  return { apiVersion: apiVersionOf(own), kind: own.kind };
}

/** Why the decoder of JSON texts does not take a patched object for one of the resource's kind; undefined when it does. */
export function patchedTypeProblem(call: Call, patched: JsonObject): string | undefined {
  try {
    const { apiVersion, kind } = declaredType(patched);
    if (apiVersion === "") return undefined;
    const own = ownKind(call);
    return typeProblem(call, own, { ...parseApiVersion(apiVersion), kind: kind || own.kind });
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
}

/** The same of the decoder of maps: it reads them into the type that is there, whatever they say of theirs. */
export function mapTypeProblem(patched: JsonObject): string | undefined {
  for (const name of ["apiVersion", "kind"]) {
    const value = patched[name];
    if (value === undefined || value === null || typeof value === "string") continue;
    const isInteger = typeof value === "bigint" || Number.isInteger(value);
    return isInteger ? "cannot convert int64 to string" : "unrecognized type: string";
  }
  return undefined;
}
