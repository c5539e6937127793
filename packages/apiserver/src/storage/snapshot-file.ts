import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { Collection } from "./collection.ts";
import type { Entry } from "./entry.ts";
import type { Snapshot } from "./journal.ts";

/** Raised by every change to the format. */
const FORMAT_VERSION = 1;

interface Head {
  format: "konverge-snapshot";
  version: number;
  revision: number;
  objects: number;
  /** Of all that follows the head. */
  checksum: number;
}

type Line = [
  resource: string,
  key: string,
  revision: number,
  uid: string,
  labels: Entry["labels"] | null,
  fields: Entry["fields"] | null,
  text: string,
];

/**
 * A snapshot as text: a line that says what it is, then a line for each object. It has the state without its history:
 * a server that starts from it answers watches from an older revision with 410.
 */
export function encodeSnapshot(snapshot: Snapshot): Uint8Array {
  const lines: string[] = [];
  for (const [resource, collection] of snapshot.collections) {
    for (const { key, revision, uid, labels, fields, text } of collection.scan("")) {
      const line: Line = [resource, key, revision, uid, labels ?? null, fields ?? null, text];
      lines.push(`${JSON.stringify(line)}\n`);
    }
  }
  const body = Buffer.from(lines.join(""));
  const head: Head = {
    format: "konverge-snapshot",
    version: FORMAT_VERSION,
    revision: snapshot.revision,
    objects: lines.length,
    checksum: crc32(body),
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
}

/** Reads what {@link encodeSnapshot} wrote; `source` names it in errors. */
export function decodeSnapshot(bytes: Uint8Array, source = "the snapshot"): Snapshot {
  const end = bytes.indexOf(0x0a);
  const head = readHead(Buffer.from(bytes.subarray(0, Math.max(0, end))).toString(), source);
  const body = Buffer.from(bytes.subarray(end + 1));
  if (crc32(body) !== head.checksum) {
    throw new Error(`${source} is incomplete or damaged: its checksum is wrong. Save it again, or use another copy.`);
  }
  const { revision } = head;
  const collections = new Map<string, Collection>();
  for (const json of body.toString().split("\n")) {
    if (json === "") continue;
    const [resource, key, written, uid, labels, fields, text] = JSON.parse(json) as Line;
    const collection = collections.get(resource) ?? new Collection();
    collections.set(resource, collection);
    collection.load({ key, revision: written, uid, labels: labels ?? undefined, fields: fields ?? undefined, text });
  }
  for (const collection of collections.values()) collection.restart(revision);
  return { revision, compacted: revision, collections };
}

/** Saves a snapshot; an older file of that name stays whole until the new one is. It holds Secrets: mode 0600. */
export function saveSnapshot(path: string, snapshot: Snapshot): void {
  const partial = `${path}.partial`;
  writeFileSync(partial, encodeSnapshot(snapshot), { mode: 0o600, flush: true });
  renameSync(partial, path);
}

/** Reads what {@link saveSnapshot} saved. */
export function loadSnapshot(path: string): Snapshot {
  return decodeSnapshot(readFileSync(path), path);
}

function readHead(text: string, source: string): Head {
  let head: Partial<Head> | undefined;
  try {
    head = JSON.parse(text) as Head;
  } catch {}
  if (head?.format !== "konverge-snapshot") throw new Error(`${source} is no snapshot of an embedded API server.`);
  if (head.version !== FORMAT_VERSION) {
    throw new Error(
      `${source} was saved by a newer version of Konverge (its format is ${head.version}, this version knows ${FORMAT_VERSION}). Use that version to read it.`,
    );
  }
  return head as Head;
}
