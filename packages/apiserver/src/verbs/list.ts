import { ApiError, type ApiResponse, badRequest, expired, tooManyRequests } from "@konverge/core";
import { type Call, requestVersion } from "../call/call.ts";
import { type ListParameters, listParameters } from "../http/query.ts";
import { listResponse } from "../representation/answer.ts";
import type { ListMetadata } from "../representation/partial-metadata.ts";
import type { Collection } from "../storage/collection.ts";
import type { Entry } from "../storage/entry.ts";
import { isOutdated, noteToken, readToken, tokenAfter, tokenExpired } from "./continue-token.ts";
import { revisionOf, tooLargeVersion, versionProblem, waitFor } from "./resource-version.ts";
import { type Selection, selectionOf } from "./selectors.ts";

/** Answers a list. */
export async function list(call: Call): Promise<ApiResponse> {
  const { metadata, entries } = await selectPage(call);
  try {
    return await listResponse(call, metadata, entries);
  } catch (error) {
    throw call.definition.convertsByWebhook && error instanceof ApiError && error.code === 500
      ? notListed(call, error)
      : error;
  }
}

/** A real server keeps all objects converted, and is not ready for lists before it has managed to. */
function notListed(call: Call, { message }: ApiError): ApiError {
  const what = `${requestVersion(call)}, Kind=${call.version.kind}`;
  return tooManyRequests(`storage is (re)initializing: failed to list ${what}: ${message}`, 1);
}

interface Page {
  readonly metadata: ListMetadata;
  readonly entries: readonly Entry[];
}

/** The state that a list shows, and from where in it. */
interface Start {
  readonly state: Collection;
  readonly revision: number;
  /** The first key that may be shown. */
  readonly from?: string;
}

/** The entries that the parameters of a request ask for, and what the list says about itself. */
export async function selectPage(call: Call): Promise<Page> {
  const parameters = listParameters(call.info.query, false);
  const selection = selectionOf(call);
  await call.store.durable();
  const start = parameters.continue === "" ? await startOf(call, parameters) : continued(call, parameters, selection);
  // A request for any version gets the whole list.
  const limit = parameters.resourceVersion === "0" ? 0 : parameters.limit;
  const page = await cut(start, selection, limit);
  if (page.metadata.continue) noteToken(call, start.revision);
  return page;
}

async function startOf(call: Call, parameters: ListParameters): Promise<Start> {
  const { store, definition } = call;
  const wanted = revisionOf(parameters.resourceVersion);
  if (wanted === undefined) throw badRequest(`invalid resource version: ${versionProblem(parameters.resourceVersion)}`);
  const isExact =
    parameters.resourceVersionMatch === "Exact" || (parameters.resourceVersionMatch === "" && parameters.limit > 0);
  if (wanted > 0 && isExact) {
    if (wanted > store.published) throw tooLargeVersion(wanted, store.published);
    const state = store.collection(definition.storage).at(wanted);
    if (!state) throw expired(`The resourceVersion for the provided list is too old.`);
    return { state, revision: wanted };
  }
  await waitFor(call, wanted);
  return now(call);
}

function now({ store, definition }: Call): Start {
  const revision = store.published;
  return { state: store.collection(definition.storage).at(revision)!, revision };
}

function continued(call: Call, parameters: ListParameters, { prefix }: Selection): Start {
  const { store, definition } = call;
  const token = readToken(parameters.continue);
  if (parameters.resourceVersion !== "" && parameters.resourceVersion !== "0") {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const from = prefix + token.start;
  if (token.revision < 0) return { ...now(call), from };
  if (isOutdated(call, token)) store.compactIdle();
  if (token.revision > store.published) throw tooLargeVersion(token.revision, store.published);
  const state = store.collection(definition.storage).at(token.revision);
  if (!state) throw tokenExpired(token);
  return { state, revision: token.revision, from };
}

async function cut({ state, revision, from = "" }: Start, selection: Selection, limit: number): Promise<Page> {
  const entries: Entry[] = [];
  let more = false;
  // A key that ends in \0 is the first one after the key without it.
  for (const entry of state.scan(selection.prefix, from.endsWith("\0") ? from.slice(0, -1) : undefined)) {
    if (entry.key < from) continue;
    const matches = selection.matches(entry);
    if (!(typeof matches === "boolean" ? matches : await matches)) continue;
    if (limit > 0 && entries.length === limit) {
      more = true;
      break;
    }
    entries.push(entry);
  }
  const resourceVersion = String(revision);
  if (!more) return { metadata: { resourceVersion }, entries };
  const last = entries[entries.length - 1]!.key;
  return {
    metadata: {
      resourceVersion,
      continue: tokenAfter(revision, last.slice(selection.prefix.length)),
      ...(selection.all && { remainingItemCount: state.countAfter(selection.prefix, last) }),
    },
    entries,
  };
}
