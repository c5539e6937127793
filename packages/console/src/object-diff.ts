import type { FieldDiff } from "./protocol.ts";

/** Fields that change with every write and say nothing. */
const NOISE = new Set([
  "metadata.managedFields",
  "metadata.resourceVersion",
  "metadata.generation",
  "metadata.selfLink",
  "status.observedGeneration",
]);
const NOISY_NAMES = new Set(["lastHeartbeatTime", "lastProbeTime", "renewTime"]);
/** By these, items of lists are recognized. */
const ITEM_KEYS = ["name", "type", "uid", "key", "containerPort", "port", "ip"];
const LONGEST_VALUE = 240;

/** The fields in which two versions of an object differ; undefined: the object is not there. */
export function objectDiff(before: unknown, after: unknown): FieldDiff[] {
  const found: FieldDiff[] = [];
  compare(before, after, "", found);
  return found;
}

/** Keys are users' words: what every object inherits is none of them. */
const own = (object: Readonly<Record<string, unknown>>, key: string) =>
  Object.hasOwn(object, key) ? object[key] : undefined;

function compare(before: unknown, after: unknown, path: string, found: FieldDiff[]): void {
  if (Object.is(before, after) || NOISE.has(path)) return;
  if (isRecord(before) && isRecord(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      if (!NOISY_NAMES.has(name)) compare(own(before, name), own(after, name), path ? `${path}.${name}` : name, found);
    }
  } else if (Array.isArray(before) && Array.isArray(after)) compareLists(before, after, path, found);
  else {
    const [old, now] = [before, after].map((value) => (value === undefined ? undefined : shown(value)));
    if (old === now) return;
    found.push({ path, ...(old !== undefined && { before: old }), ...(now !== undefined && { after: now }) });
  }
}

function compareLists(before: unknown[], after: unknown[], path: string, found: FieldDiff[]): void {
  const key = ITEM_KEYS.find((name) => [...before, ...after].every((item) => isRecord(item) && name in item));
  if (key) {
    const [old, now] = [byKey(before, key), byKey(after, key)];
    if (old.size === before.length && now.size === after.length) {
      for (const name of new Set([...old.keys(), ...now.keys()]))
        compare(old.get(name), now.get(name), `${path}[${name}]`, found);
      return;
    }
  }
  if (before.length === after.length) {
    for (const [i, item] of before.entries()) compare(item, after[i], `${path}[${i}]`, found);
  } else if (JSON.stringify(before) !== JSON.stringify(after)) {
    found.push({ path, before: shown(before), after: shown(after) });
  }
}

function byKey(items: unknown[], key: string): Map<string, unknown> {
  return new Map(items.map((item) => [String((item as Record<string, unknown>)[key]), item]));
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
