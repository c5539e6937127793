import { type ApiResponse, apiVersionOf, badRequest, expired } from "@konverge/core";
import type { Collection, Entry } from "../storage/collection.ts";
import type { Call } from "./call.ts";
import { objectOf } from "./call.ts";
import { jsonResponse } from "./finish.ts";
import { selectionOf } from "./selectors.ts";

/** Where a paged list goes on: the revision all its pages show, and the last key already given. */
interface Continue {
  revision: number;
  after: string;
}

export async function list(call: Call): Promise<ApiResponse> {
  await call.store.durable();
  const { query } = call.info;
  const token = readContinue(query.get("continue"));
  const collection = call.store.collection(call.definition.storage);
  const revision = token?.revision ?? call.store.published;
  const state = collectionAt(collection, revision);
  const selection = selectionOf(call);
  const limit = Number(query.get("limit") ?? 0);

  const entries: Entry[] = [];
  let more = false;
  for (const entry of state.scan(selection.prefix, token?.after)) {
    if (!selection.matches(entry)) continue;
    if (limit > 0 && entries.length === limit) {
      more = true;
      break;
    }
    entries.push(entry);
  }
  const metadata: Record<string, unknown> = { resourceVersion: String(revision) };
  if (more) {
    const after = entries[entries.length - 1]!.key;
    metadata.continue = writeContinue({ revision, after });
    if (!query.has("labelSelector") && !query.has("fieldSelector")) {
      metadata.remainingItemCount = state.countAfter(selection.prefix, after);
    }
  }
  return listResponse(call, metadata, entries);
}

async function listResponse(call: Call, metadata: object, entries: readonly Entry[]): Promise<ApiResponse> {
  const { definition, version } = call;
  const kind = version.listKind;
  const apiVersion = apiVersionOf({ group: definition.group, version: version.version });
  if (version.version === definition.storageVersion) {
    const head = JSON.stringify({ kind, apiVersion, metadata }).slice(0, -1);
    const body = `${head},"items":[${entries.map((entry) => entry.text).join(",")}]}\n`;
    return { status: 200, headers: { "content-type": "application/json" }, body };
  }
  const items = await definition.convert(entries.map(objectOf), version.version);
  return jsonResponse(200, { kind, apiVersion, metadata, items });
}

function collectionAt(collection: Collection, revision: number): Collection {
  const state = collection.at(revision);
  if (state) return state;
  throw expired("The provided continue parameter is too old to display a consistent list result.");
}

function writeContinue(token: Continue): string {
  return Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: token.revision, start: token.after })).toString(
    "base64url",
  );
}

function readContinue(text: string | null): Continue | undefined {
  if (!text) return undefined;
  try {
    const { rv, start } = JSON.parse(Buffer.from(text, "base64url").toString());
    if (Number.isInteger(rv) && typeof start === "string") return { revision: rv, after: start };
  } catch {}
  throw badRequest("continue key is not valid: it must be the one that the previous page of this list gave");
}
