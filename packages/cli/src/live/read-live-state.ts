import type { Snapshot } from "@konverge/apiserver";
import type { Client } from "@konverge/client";
import { liveState } from "@konverge/cluster";
import { type AnyObject, ApiError } from "@konverge/core";
import { type KindToRead, nameOf } from "./kinds-to-read.ts";
import { Placeholders } from "./placeholders.ts";
import { relatedObjects } from "./related-objects.ts";

/** What was read of a live cluster. */
export interface LiveState {
  readonly state: Snapshot;
  /** How many objects of each kind the snapshot has: `deployments.apps`. */
  readonly objects: Readonly<Record<string, number>>;
  readonly requests: number;
}

/** Objects of a page. */
const PAGE = 500;

/**
 * Reads kinds of a live cluster as they were at one moment, if it still knows that moment when it is asked for the last of them. It
 * only lists. Values of Secrets are replaced as soon as they are read.
 */
export async function readLiveState(client: Client, kinds: readonly KindToRead[]): Promise<LiveState> {
  const placeholders = new Placeholders();
  const kept: AnyObject[] = [];
  const candidates: AnyObject[] = [];
  const crds: AnyObject[] = [];
  let [revision, requests] = [0, 0];
  // With Secrets first, it is known what must not appear elsewhere.
  const secretsFirst = [...kinds].sort((a, b) => Number(isSecret(b)) - Number(isSecret(a)));
  for (const { kind, objects } of secretsFirst) {
    let next: string | undefined;
    do {
      const moment =
        next || revision === 0 ? {} : { resourceVersion: String(revision), resourceVersionMatch: "Exact" as const };
      const page = { limit: PAGE, ...(next ? { continue: next } : moment) };
      const list = await client.list(kind, page).catch((error: unknown) => {
        // The moment is forgotten after some minutes, and other API servers know other moments.
        if (next || !(error instanceof ApiError) || ![400, 410].includes(error.code)) throw error;
        return client.list(kind, { limit: PAGE });
      });
      requests++;
      if (revision === 0) revision = Number(list.metadata.resourceVersion ?? 0);
      for (const object of list.items as AnyObject[]) {
        const clean = object.kind === "Secret" ? placeholders.secret(object) : placeholders.object(object);
        if (isOwn(clean)) continue;
        if (clean.kind === "CustomResourceDefinition") crds.push(clean);
        else (objects === "all" ? kept : candidates).push(clean);
      }
      next = list.metadata.continue || undefined;
    } while (next);
  }
  const read = new Set(kinds.map(({ kind }) => nameOf(kind)));
  const definitions = crds.filter(({ metadata }) => read.has(metadata.name));
  const found = [...definitions, ...kept, ...relatedObjects(kept, candidates)];
  return { state: await liveState(found, revision), objects: countsOf(found, kinds), requests };
}

const isSecret = ({ kind }: KindToRead) => kind.group === "" && kind.kind === "Secret";

/** What describes the API server itself: the embedded one has its own. */
function isOwn({ kind, metadata }: AnyObject): boolean {
  const { namespace, name, labels } = metadata;
  if (namespace !== "default" || !["Service", "Endpoints", "EndpointSlice"].includes(kind ?? "")) return false;
  return name === "kubernetes" || labels?.["kubernetes.io/service-name"] === "kubernetes";
}

function countsOf(objects: readonly AnyObject[], kinds: readonly KindToRead[]): Record<string, number> {
  const counts: Record<string, number> = {};
  const names = new Map(kinds.map(({ kind }) => [kind.kind, nameOf(kind)]));
  for (const { kind = "" } of objects) {
    const name = names.get(kind) ?? kind;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
