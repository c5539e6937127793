import {
  type ApiError,
  badRequest,
  deepEqual,
  isObject,
  isTooDeep,
  MAX_JSON_DEPTH,
  stringifyJson,
  WholeFloat,
} from "@konverge/core";
import { Draft, fail, PatchFailure, type Place } from "./patch-draft.ts";
import { tooLarge, unprocessable } from "./refusals.ts";

/** One step of a JSON patch (RFC 6902). */
export interface JsonPatchOperation {
  op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  path: string;
  from?: string;
  value?: unknown;
}

/** The most operations that one request may carry. */
export const MAX_JSON_PATCH_OPERATIONS = 10_000;

/** The most bytes, as JSON, that all copy operations of a patch together may add. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

/**
 * Checks that a request body is a JSON patch, as the API server does: 400 for what is no list of operations, 413 for
 * too many of them. What the server would only warn of (or, strictly, refuse) comes back as `unknown`.
 */
export function decodeJsonPatch(body: unknown): { operations: JsonPatchOperation[]; unknown: string[] } {
  if (body === null) return { operations: [], unknown: [] };
  if (!Array.isArray(body)) throw notDecodable(body, "Go value of type []handlers.jsonPatchOp");
  const unknown: string[] = [];
  body.forEach((operation: unknown, index) => {
    if (operation === null) return;
    if (!isObject(operation)) throw notDecodable(operation, "Go value of type handlers.jsonPatchOp");
    for (const field of Object.keys(operation)) {
      const value = operation[field];
      if (field === "op" || field === "path" || field === "from") {
        if (value !== null && typeof value !== "string") {
          throw notDecodable(value, `Go struct field jsonPatchOp.${field} of type string`);
        }
      } else if (field !== "value") {
        unknown.push(`json patch unknown field "[${index}].${field}"`);
      }
    }
  });
  if (body.length > MAX_JSON_PATCH_OPERATIONS) {
    throw tooLarge(
      `The allowed maximum operations in a JSON patch is ${MAX_JSON_PATCH_OPERATIONS}, got ${body.length}`,
    );
  }
  return { operations: body as JsonPatchOperation[], unknown };
}

function notDecodable(value: unknown, target: string): ApiError {
  return badRequest(`error decoding patch: json: cannot unmarshal ${goJsonType(value)} into ${target}`);
}

/** What Go's JSON decoder calls a value that it cannot store. */
export function goJsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  return typeof value === "bigint" || value instanceof WholeFloat ? "number" : typeof value;
}

/**
 * Applies the operations in order, all or none: the first that fails throws 422 with the reason as its cause. Nothing
 * is changed in place; what no operation touches is shared with `document`.
 *
 * Copies may add 3 MiB, and the result may be nested as deep as a body may: as in the API server, a small patch cannot
 * make an object that no client could have sent.
 *
 * The API server's library is laxer than the RFC in places that clients have come to rely on: `replace` of a key that
 * an object lacks adds it, negative indices count from the end of a list, and a missing value is null.
 */
export function applyJsonPatch<T extends object>(document: T, operations: readonly JsonPatchOperation[]): T {
  const draft = new Draft(document);
  const copied: Copied = { bytes: 0, sizes: new Map() };
  try {
    for (const operation of operations) perform(draft, operation ?? {}, copied);
    const { root } = draft;
    if (isTooDeep(root, MAX_JSON_DEPTH + OWN_LEVELS)) fail("exceeded max depth");
    return root as T;
  } catch (error) {
    if (error instanceof PatchFailure) throw unprocessable(error.message);
    throw error;
  }
}

/** How much deeper than an object what a server writes into it may be: managedFields name all of its fields. */
const OWN_LEVELS = 10;

/** What the copy operations of a patch have added so far. */
interface Copied {
  bytes: number;
  /** Of the containers that have been copied before: they are shared, and change no more. */
  readonly sizes: Map<unknown, number>;
}

type Step = Partial<JsonPatchOperation>;

const NO_PATH = "operation missing path field: missing value";

function perform(draft: Draft, step: Step, copied: Copied): void {
  const value = step.value === undefined ? null : step.value;
  switch (step.op) {
    case "add": {
      const path = step.path ?? fail("add operation failed to decode path: missing value");
      const place = draft.place(path);
      if (!place) fail(`add operation does not apply: doc is missing path: "${path}": missing value`);
      place.add(value, (why) => `error in add for path: '${path}': ${why}`);
      break;
    }
    case "remove": {
      const path = step.path ?? fail("remove operation failed to decode path: missing value");
      const place = draft.place(path);
      if (!place) fail(`remove operation does not apply: doc is missing path: "${path}": missing value`);
      place.remove((why) => `error in remove for path: '${path}': ${why}`);
      break;
    }
    case "replace":
      replace(draft, step.path ?? fail(`replace operation failed to decode path: ${NO_PATH}`), value);
      break;
    case "test":
      test(draft, step.path ?? fail(`test operation failed to decode path: ${NO_PATH}`), value);
      break;
    case "move":
      move(draft, step);
      break;
    case "copy":
      copy(draft, step, copied);
      break;
    default:
      fail(`Unexpected kind: ${step.op ?? "unknown"}`);
  }
}

function replace(draft: Draft, path: string, value: unknown): void {
  if (path === "") {
    draft.replaceRoot(value);
    return;
  }
  const place = draft.place(path);
  if (!place) fail(`replace operation does not apply: doc is missing path: ${path}: missing value`);
  place.get(() => `replace operation does not apply: doc is missing key: ${path}: missing value`);
  place.set(value);
}

function test(draft: Draft, path: string, value: unknown): void {
  let actual: unknown;
  if (path === "") {
    actual = draft.root;
  } else {
    const place = draft.place(path);
    if (!place) fail(`test operation does not apply: is missing path: ${path}: missing value`);
    actual = draft.settle(place.get((why) => `error in test for path: '${path}': ${why}`));
  }
  if (!deepEqual(actual ?? null, value)) fail(`testing value ${path} failed: test failed`);
}

function move(draft: Draft, step: Step): void {
  const source = sourceOf(draft, step, "move");
  const words = (why: string) => `error in move for path: '${source.key}': ${why}`;
  const moved = source.get(words) ?? null;
  source.remove(words);
  const path = step.path ?? fail(`move operation failed to decode path: ${NO_PATH}`);
  const target = draft.place(path);
  if (!target) fail(`move operation does not apply: doc is missing destination path: ${path}: missing value`);
  target.add(moved, (why) => `error in move for path: '${path}': ${why}`);
}

function copy(draft: Draft, step: Step, copied: Copied): void {
  const source = sourceOf(draft, step, "copy").get((why) => `error in copy for from: '${step.from}': ${why}`) ?? null;
  const path = step.path ?? fail("copy operation failed to decode path: missing value");
  if (!draft.place(path))
    fail(`copy operation does not apply: doc is missing destination path: ${path}: missing value`);
  const value = draft.share(draft.settle(source));
  copied.bytes += value === null ? 0 : sizeOf(value, copied);
  if (copied.bytes > MAX_COPIED_BYTES) {
    fail(
      `Unable to complete the copy, the accumulated size increase of copy is ${copied.bytes}, exceeding the limit ${MAX_COPIED_BYTES}`,
    );
  }
  // Found again: where it was before may have been resolved with the source.
  draft.place(path)!.add(value, (why) => `error while adding value during copy: ${why}`);
}

function sizeOf(value: unknown, { sizes }: Copied): number {
  const known = sizes.get(value);
  if (known !== undefined) return known;
  if (isTooDeep(value)) fail("error while performing deep copy: exceeded max depth");
  const bytes = goJsonBytes(value);
  sizes.set(value, bytes);
  return bytes;
}

/** How long a value is as Go writes it, which escapes a few characters more than JavaScript does. */
function goJsonBytes(value: unknown): number {
  const text = stringifyJson(value);
  let bytes = Buffer.byteLength(text);
  for (const [character] of text.matchAll(/[<>&\u2028\u2029]/g)) bytes += character < "\u0080" ? 5 : 3;
  return bytes;
}

function sourceOf(draft: Draft, step: Step, verb: "move" | "copy"): Place {
  const from =
    step.from ?? fail(`${verb} operation failed to decode from: operation, missing from field: missing value`);
  const place = draft.place(from);
  return place ?? fail(`${verb} operation does not apply: doc is missing from path: ${from}: missing value`);
}
