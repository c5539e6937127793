import type { Result } from "./play.ts";

/**
 * Makes two transcripts comparable: what a server chooses freely (uids, generated names, addresses) becomes its number in
 * order of first appearance, resource versions become their rank within the script, moments become a mark. Nothing else is
 * touched: whatever is masked here must differ between two runs of the real server.
 */
export function normalize(results: readonly Result[], namespace: string): Result[] {
  const versions = rankVersions(results);
  const names = new Map<string, string>();
  return walk(results, undefined, { versions, names, namespace }) as Result[];
}

interface Masks {
  versions: Map<string, string>;
  names: Map<string, string>;
  /** The script's own namespace, which is another one each time. */
  namespace: string;
}

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
/** The volume that a pod finds its service account's token in. */
const TOKEN_VOLUME = /kube-api-access-[a-z0-9]{5}/g;
const LOOPBACK = /127\.0\.0\.1:\d+/g;
/** Messages speak of versions that other writers have made meanwhile. */
const ABOUT_VERSIONS = /resource ?version/i;

function walk(value: unknown, key: string | undefined, masks: Masks): unknown {
  if (typeof value === "string") return text(value, key, masks);
  if (Array.isArray(value)) {
    return inOrder(value, key).map((item) => walk(item, key, masks));
  }
  if (typeof value !== "object" || value === null) return value;
  const object = value as Record<string, unknown>;
  const generated = object.generateName;
  if (typeof generated === "string" && typeof object.name === "string" && object.name.startsWith(generated))
    number(object.name, "generated", masks);
  return Object.fromEntries(
    Object.keys(object)
      .sort()
      .map((name) => [keyName(name, masks), isListVersion(object, name) ? "version" : walk(object[name], name, masks)]),
  );
}

/** Keys of field sets name what they stand for. */
function keyName(name: string, masks: Masks): string {
  if (!name.startsWith("k:{")) return own(name, masks);
  return own(name, masks)
    .replace(UID, (uid) => number(uid, "uid", masks))
    .replace(TOKEN_VOLUME, (volume) => number(volume, "kube-api-access", masks));
}

function inOrder(items: readonly unknown[], key: string | undefined): readonly unknown[] {
  if (key === "managedFields") return [...(items as Record<string, string>[])].sort(byManager);
  return key === "causes" ? [...(items as Record<string, string>[])].sort(byConflict) : items;
}

/** Conflicts with several managers come in any order; all other causes stay where they are. */
function byConflict(a: Record<string, string>, b: Record<string, string>): number {
  if (a.reason !== "FieldManagerConflict" || b.reason !== "FieldManagerConflict") return 0;
  return `${a.message} ${a.field}` < `${b.message} ${b.field}` ? -1 : 1;
}

/** Managers stand in the order of their times, which are full seconds: between two runs it differs. */
function byManager(a: Record<string, string>, b: Record<string, string>): number {
  const name = ({ operation, manager, apiVersion, subresource }: Record<string, string>) =>
    [operation, manager, apiVersion, subresource].join("\0");
  return name(a) < name(b) ? -1 : 1;
}

/** A list's own version moves with everything else the server does (leases): only that there is one can be compared. */
function isListVersion(object: Record<string, unknown>, key: string): boolean {
  return (
    key === "resourceVersion" &&
    object.uid === undefined &&
    object.name === undefined &&
    typeof object[key] === "string"
  );
}

/** How old an object is, in a table. */
const AGE = /^\d+[smhdy](\d+[smhdy])?$/;

function text(value: string, key: string | undefined, masks: Masks): string {
  if (key === "resourceVersion") return masks.versions.get(value) ?? value;
  if (key === "continue" && value !== "") return own(token(value), masks);
  if (key === "clusterIP" || key === "clusterIPs") return /^\d+\.\d+/.test(value) ? "address" : value;
  if (key === "cells" && AGE.test(value)) return "age";
  let masked = own(withoutOwnership(value), masks)
    .replace(LOOPBACK, "127.0.0.1:port")
    .replace(UID, (uid) => number(uid, "uid", masks))
    .replace(TOKEN_VOLUME, (volume) => number(volume, "kube-api-access", masks))
    .replace(MOMENT, "moment");
  if (ABOUT_VERSIONS.test(masked) && (key === "message" || key === "warnings")) {
    masked = masked.replace(/\b\d+\b/g, "N");
  }
  for (const [name, mask] of masks.names)
    if (mask.startsWith("generated") && masked.includes(name)) masked = masked.replaceAll(name, mask);
  return masked;
}

/** Errors about patches show whole objects, with managers in the order of their times. */
function withoutOwnership(value: string): string {
  const start = value.search(/\\?"managedFields\\*":\[/);
  if (start < 0) return value;
  let depth = 0;
  for (let at = value.indexOf("[", start); at < value.length; at++) {
    if (value[at] === "[") depth++;
    if (value[at] === "]" && --depth === 0) return value.slice(0, start) + withoutOwnership(value.slice(at + 1));
  }
  return value;
}

function own(text: string, { namespace }: Masks): string {
  return text.includes(namespace) ? text.replaceAll(namespace, "$ns") : text;
}

/** A continue token names a version, and where to go on. */
function token(value: string): string {
  try {
    const { rv, start } = JSON.parse(Buffer.from(value, "base64url").toString()) as { rv: number; start: string };
    return `${rv < 0 ? "now" : "version"}, after ${start}`;
  } catch {
    return value;
  }
}

function number(value: string, what: string, masks: Masks): string {
  let mask = masks.names.get(value);
  if (!mask) {
    mask = `${what}-${masks.names.size + 1}`;
    masks.names.set(value, mask);
  }
  return mask;
}

function rankVersions(results: readonly Result[]): Map<string, string> {
  const versions = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      if (
        key === "resourceVersion" &&
        typeof item === "string" &&
        /^\d+$/.test(item) &&
        !isListVersion(value as Record<string, unknown>, key)
      )
        versions.add(item);
      else collect(item);
    }
  };
  collect(results);
  const ordered = [...versions].sort((a, b) => Number(BigInt(a) - BigInt(b)));
  return new Map(ordered.map((version, rank) => [version, `version-${rank + 1}`]));
}
