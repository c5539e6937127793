import { builtinSchema } from "@konverge/kinds";
import type { Call } from "../call/call.ts";
import { typedCodec } from "../codec/typed.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { writeParameters } from "../http/query.ts";
import { type Expected, readBodyAs } from "../verbs/body.ts";

/** A kind that bodies of subresources are of, and that nothing else is. */
export function bodyKind(group: string, version: string, kind: string, definition: string): Expected {
  const gvk = { group, version, kind };
  return { ...gvk, codec: typedCodec(definition, gvk, () => builtinSchema(group, version, kind)) };
}

/** The body of a create on a subresource, and the call with what its parameters say. */
export function readCreate(given: Call, expected: Expected): { call: Call; object: WorkingObject } {
  const { dryRun, fieldValidation } = writeParameters(given.info.query, "CreateOptions");
  const call = { ...given, dryRun };
  return { call, object: readBodyAs(call, expected, fieldValidation) };
}

/** The answer to something that was done and leaves nothing to show. */
export const CREATED = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
