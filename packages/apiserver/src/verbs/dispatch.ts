/**
 * What can be done with objects, the same for every kind: create, get, list, watch, update, patch, apply, delete, scale.
 *
 * A {@link Call} is one request on its way through: what was asked, of which resource in which version, by whom, and what
 * the server has to answer it with. {@link dispatch} finds the verb, or what is plugged in for this resource. A write goes
 * through the same stations wherever it comes from:
 *
 *     body → object ─▶ ownership recorded ─▶ mutating admission ─▶ strategy prepares, judges ─▶ validating admission ─▶ store
 *
 * An update repeats that from the current state after a concurrent write, unless it has a resourceVersion. What is
 * special about a kind is asked of its strategy; no verb knows a kind by name.
 *
 * A read takes its state from the store at one revision: a list never mixes two, its pages stay at the first one's, and a
 * watch brings every change after its position, once and in order. What clients see of a version other than the stored one
 * is converted on the way out.
 *
 * Promises: an answer goes out when all that it depends on is durable; a dry run goes through all of it and stores nothing; errors
 * have the status, reason, causes and words of a real server.
 */
import { type ApiResponse, methodNotAllowed } from "@konverge/core";
import type { Call } from "../call/call.ts";
import type { Extensions } from "../extensions.ts";
import { writeParameters } from "../http/query.ts";
import { bodyResponse, entryResponse, objectResponse } from "../representation/answer.ts";
import { readBody } from "./body.ts";
import { createObject, type Written } from "./create.ts";
import { deleteOne } from "./delete.ts";
import { deleteCollection } from "./delete-collection.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { mutated, recordUpdate } from "./managed-fields.ts";
import { checkName, dropDuplicateOwners, matchNamespace, wipeSystemFields } from "./metadata.ts";
import { patchObject } from "./patch.ts";
import { noSuchPath } from "./routes.ts";
import { updateObject } from "./update.ts";
import { watch } from "./watch.ts";

/**
 * Carries out a request about objects: the verb that all resources share, or what is plugged in for this one. A refusal, too,
 * waits for the writes that it may be due to: if these are not kept, they are no reason.
 */
export async function dispatch(call: Call, extensions: Extensions): Promise<ApiResponse> {
  try {
    return await respond(call, extensions);
  } catch (error) {
    await call.store.durable();
    throw error;
  }
}

async function respond(call: Call, extensions: Extensions): Promise<ApiResponse> {
  const { definition, version, info } = call;
  if (info.subresource !== "") return dispatchSubresource(call, extensions);
  const act = extensions.subresources[`${definition.group}/${definition.plural}/`];
  if (act && info.verb === "create") return act(call);
  const review = extensions.reviews[`${definition.group}/${definition.plural}`];
  if (review && info.verb === "create") {
    const { fieldValidation } = writeParameters(info.query, "CreateOptions");
    const question = readBody(call, fieldValidation);
    matchNamespace(call, question.metadata);
    const owned = await recordUpdate(call, undefined, question);
    const admitted = await mutated(call, owned, undefined, "CREATE");
    const answer = review(call, admitted);
    await call.admission.validate(call, admitted, undefined, "CREATE");
    return bodyResponse(201, version.codec.canonical(answer()), call.form);
  }
  return carryOut(call);
}

function dispatchSubresource(call: Call, { subresources }: Extensions): ApiResponse | Promise<ApiResponse> {
  const { definition, version, info } = call;
  const { group, plural } = definition;
  const handler = subresources[`${group}/${plural}/${info.subresource}`] ?? subresources[`*/${info.subresource}`];
  if (handler) return handler(call);
  if (version.subresources.get(info.subresource)?.kind.kind !== version.kind) throw noSuchPath();
  return carryOut(call);
}

async function carryOut(call: Call): Promise<ApiResponse> {
  const { info } = call;
  switch (info.verb) {
    case "get":
      return get(call);
    case "list":
      return list(call);
    case "watch":
      return watch(call);
    case "create":
      return create(call);
    case "update":
      return update(call);
    case "patch":
      return writtenResponse(call, await patchObject(call));
    case "delete":
      return deleteOne(call);
    case "deletecollection":
      return deleteCollection(call);
    default:
      throw methodNotAllowed(call.definition, info.verb);
  }
}

async function create(given: Call): Promise<ApiResponse> {
  const { dryRun, fieldValidation } = writeParameters(given.info.query, "CreateOptions");
  const call = { ...given, dryRun };
  return writtenResponse(call, await createObject(call, readBody(call, fieldValidation)));
}

async function update(given: Call): Promise<ApiResponse> {
  const { dryRun, fieldValidation } = writeParameters(given.info.query, "UpdateOptions");
  const call = { ...given, dryRun };
  const draft = readBody(call, fieldValidation);
  matchNamespace(call, draft.metadata);
  checkName(call, draft.metadata);
  dropDuplicateOwners(call, draft.metadata);
  const create = () => {
    wipeSystemFields(draft.metadata);
    return recordUpdate(call, undefined, draft);
  };
  const written = await updateObject(call, () => draft, {
    uid: draft.metadata.uid,
    ...(call.definition.strategy.allowCreateOnUpdate && { create }),
  });
  return writtenResponse(call, written);
}

/** The answer to a write. */
export function writtenResponse(call: Call, { object, entry, created }: Written): Promise<ApiResponse> {
  const status = created ? 201 : 200;
  return entry ? entryResponse(call, entry, status) : objectResponse(call, object, status);
}
