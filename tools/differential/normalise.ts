import type { Result } from "./play.ts";

/**
 * Makes two transcripts comparable: what a server chooses freely (uids, generated names, addresses) becomes its number in
 * order of first appearance, resource versions become their rank within the script, moments become a mark. Nothing else is
 * touched: whatever is masked here must differ between two runs of the real server.
 */
export function normalise(results: readonly Result[]): Result[] {
  const versions = rankVersions(results);
  const names = new Map<string, string>();
  return walk(results, undefined, { versions, names }) as Result[];
}

interface Masks {
  versions: Map<string, string>;
  names: Map<string, string>;
}

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const LOOPBACK = /127\.0\.0\.1:\d+/g;
/** Messages speak of versions that other writers have made meanwhile. */
const ABOUT_VERSIONS = /resource ?version/i;

function walk(value: unknown, key: string | undefined, masks: Masks): unknown {
  if (typeof value === "string") return text(value, key, masks);
  if (Array.isArray(value)) {
    const items = key === "managedFields" ? [...value].sort(byManager) : value;
    return items.map((item) => walk(item, key, masks));
  }
  if (typeof value !== "object" || value === null) return value;
  const object = value as Record<string, unknown>;
  const generated = object.generateName;
  if (typeof generated === "string" && typeof object.name === "string" && object.name.startsWith(generated))
    number(object.name, "generated", masks);
  return Object.fromEntries(
    Object.keys(object)
      .sort()
      .map((name) => [name, isListVersion(object, name) ? "version" : walk(object[name], name, masks)]),
  );
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

function text(value: string, key: string | undefined, masks: Masks): string {
  if (key === "resourceVersion") return masks.versions.get(value) ?? value;
  if (key === "continue" && value !== "") return token(value);
  if (key === "clusterIP" || key === "clusterIPs") return /^\d+\.\d+/.test(value) ? "address" : value;
  let masked = value
    .replace(LOOPBACK, "127.0.0.1:port")
    .replace(UID, (uid) => number(uid, "uid", masks))
    .replace(MOMENT, "moment");
  if (ABOUT_VERSIONS.test(masked) && (key === "message" || key === "warnings")) {
    masked = masked.replace(/\b\d+\b/g, "N");
  }
  for (const [name, mask] of masks.names)
    if (mask.startsWith("generated") && masked.includes(name)) masked = masked.replaceAll(name, mask);
  return masked;
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
  const seen = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      if (
        key === "resourceVersion" &&
        typeof item === "string" &&
        /^\d+$/.test(item) &&
        !isListVersion(value as Record<string, unknown>, key)
      )
        seen.add(item);
      else collect(item);
    }
  };
  collect(results);
  const ordered = [...seen].sort((a, b) => Number(BigInt(a) - BigInt(b)));
  return new Map(ordered.map((version, rank) => [version, `version-${rank + 1}`]));
}
