import { type ApiError, stringifyJson } from "@konverge/core";
import { type Call, requestVersion } from "../call/call.ts";
import { brought, readEntry, textOf } from "../call/stored.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { objectOf } from "../resources/stored-object.ts";
import type { Entry } from "../storage/entry.ts";
import { partialMetadata } from "./partial-metadata.ts";
import { tableOf } from "./table.ts";

export type EventType = "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";

/** Writes the lines of one watch, in the version and form that its request asks for. */
export class EventWriter {
  readonly #call: Call;
  #headers = true;

  constructor(call: Call) {
    this.#call = call;
  }

  /** An event about a stored object. */
  entry(type: EventType, entry: Entry): string | Promise<string> {
    if (this.#call.form.target === "object") return sharedLine(this.#call, type, entry);
    return readEntry(this.#call, entry).then((object) => this.#line(type, object));
  }

  /** The object has left the selection: its last state in it, as of the revision at which it left. */
  async left(previous: Entry, revision: number): Promise<string> {
    const stored = objectOf(previous);
    stored.metadata.resourceVersion = String(revision);
    const object = await brought(this.#call, stored);
    return this.#line("DELETED", object);
  }

  /** How far the watch has come. */
  bookmark(revision: number, endsInitialEvents: boolean): string {
    const { codec, kind } = this.#call.version;
    const metadata = {
      resourceVersion: String(revision),
      ...(endsInitialEvents && { annotations: { "k8s.io/initial-events-end": "true" } }),
    };
    const apiVersion = requestVersion(this.#call);
    return this.#line("BOOKMARK", { ...codec.zero, kind, apiVersion, metadata } as unknown as WorkingObject);
  }

  #line(type: EventType, object: WorkingObject): string {
    return `{"type":"${type}","object":${stringifyJson(this.#shown(object))}}\n`;
  }

  #shown(object: WorkingObject): unknown {
    const { form, version } = this.#call;
    switch (form.target) {
      case "PartialObjectMetadata":
      case "PartialObjectMetadataList":
        return partialMetadata(object, form.apiVersion);
      case "Table": {
        const headers = this.#headers;
        this.#headers = false;
        const { resourceVersion = "" } = object.metadata;
        return tableOf(this.#call, [object], { resourceVersion }, { headers });
      }
      default:
        return version.codec.canonical(object);
    }
  }
}

/** The last line of a watch that cannot go on. */
export function errorLine(error: ApiError): string {
  return `{"type":"ERROR","object":${stringifyJson(error.status)}}\n`;
}

/**
 * Watchers of the same version share the text of an event: it is put together once. They hear of a change at much the same
 * time, so that only the newest lines are worth keeping: each is as long as the text it is made of.
 */
const lines = new Map<Entry, Map<string, string>>();
const NEWEST_LINES = 64;

function sharedLine(call: Call, type: EventType, entry: Entry): string | Promise<string> {
  const key = `${type} ${requestVersion(call)}`;
  const known = lines.get(entry)?.get(key);
  if (known !== undefined) return known;
  const text = textOf(call, entry);
  return typeof text === "string"
    ? keptLine(key, type, entry, text)
    : text.then((made) => keptLine(key, type, entry, made));
}

function keptLine(key: string, type: EventType, entry: Entry, text: string): string {
  const line = `{"type":"${type}","object":${text}}\n`;
  let ofEntry = lines.get(entry);
  if (!ofEntry) {
    ofEntry = new Map();
    lines.set(entry, ofEntry);
    if (lines.size > NEWEST_LINES) lines.delete(lines.keys().next().value!);
  }
  ofEntry.set(key, line);
  return line;
}
