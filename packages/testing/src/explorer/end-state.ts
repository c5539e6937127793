import { SIMULATION_ANNOTATION_PREFIX } from "@konverge/cluster";
import { type AnyObject, controllerOf } from "@konverge/core";
import type { TestEnvironment } from "../environment/test-environment.ts";
import { hasEnded } from "./ended-objects.ts";
import { fieldDifferences } from "./field-differences.ts";

/** Objects by kind and name, as JSON text that two runs share if they end alike. */
export type EndState = ReadonlyMap<string, string>;

/** They tell how it came about, not what is. */
const PASSING = new Set(["Event", "Lease", "PodMetrics"]);
/** What depends on when and where, not on what is wanted. */
const CHANCE = new Set([
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "managedFields",
  "generation",
  "nodeName",
  "hostIP",
  "hostIPs",
  "podIP",
  "podIPs",
  "ip",
  "clusterIP",
  "clusterIPs",
  "nodePort",
  "containerID",
  "caBundle",
  // What another client writes as a fault.
  "example.com/foreign",
  "addresses",
  // How often a Deployment was rolled out, and back.
  "deployment.kubernetes.io/revision",
  "deployment.kubernetes.io/revision-history",
]);
/** Parts of names that the server makes up, wherever they occur. */
const MADE_UP = /\b(kube-api-access-[a-z0-9]{5}|(pvc-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/**
 * All objects of the test namespace, as text that two runs share if they end alike: without times, identities, addresses
 * and generated names, and with secrets' keys only.
 */
export async function endState(
  environment: Pick<TestEnvironment, "client" | "namespace">,
  mask?: (object: AnyObject) => AnyObject | undefined,
  counts: (object: AnyObject) => boolean = () => true,
): Promise<EndState> {
  return endStateOf(await objectsAtEnd(environment), mask, counts);
}

/** All objects of the test namespace, but for those that only report how it came about. */
export async function objectsAtEnd({
  client,
  namespace,
}: Pick<TestEnvironment, "client" | "namespace">): Promise<AnyObject[]> {
  const objects: AnyObject[] = [];
  const { resources } = await client.mapper.refresh();
  const seen = new Set<string>();
  for (const kind of resources) {
    const id = `${kind.plural}.${kind.group}`;
    if (!kind.namespaced || seen.has(id) || PASSING.has(kind.kind) || !kind.verbs.includes("list")) continue;
    seen.add(id);
    const { items } = await client.list(kind, { namespace });
    objects.push(...items);
  }
  return objects;
}

/** The end state that these objects make up. */
export function endStateOf(
  all: readonly AnyObject[],
  mask?: (object: AnyObject) => AnyObject | undefined,
  counts: (object: AnyObject) => boolean = () => true,
): EndState {
  const isHistory = rolloutHistory(all);
  const isVictim = victims(all);
  const objects = all
    .filter((item) => counts(item) && !isHistory(item) && !isVictim(item))
    .flatMap((item) => (mask ? (mask(item) ?? []) : item));
  const names = generatedNames(objects);
  const nodes = nodesOf(objects);
  const texts: [key: string, text: string][] = [];
  for (const object of objects) {
    const { generation } = object.metadata;
    // How often something was changed does not count; whether the last change was seen does.
    const seenLast = (name: string, value: unknown) => {
      if (name === "observedGeneration") return value === generation ? "<the last>" : "<an earlier one>";
      return typeof value === "string" && nodes.has(value) ? "<node>" : value;
    };
    const text = masked(JSON.stringify(cleaned(withoutWay(object)), seenLast, 1), names);
    texts.push([`${object.kind} ${masked(object.metadata.name, names)}`, text]);
  }
  // Several may have the same generated name: which is the first must not depend on the letters that the server drew.
  texts.sort(([a, text], [b, other]) => (a === b ? (text < other ? -1 : 1) : 0));
  const state = new Map<string, string>();
  for (const [name, text] of texts) {
    let key = name;
    for (let i = 2; state.has(key); i++) key = `${name} (${i})`;
    state.set(key, text);
  }
  return state;
}

/** Tells pods that ended because of a fault, and Jobs that failed with them: what is left of them is not the operator's doing. */
function victims(objects: readonly AnyObject[]): (object: AnyObject) => boolean {
  const pods = objects.filter(({ kind, metadata: { annotations = {} } }) => kind === "Pod" && isEnding(annotations));
  const uids = new Set(pods.flatMap((pod) => [pod.metadata.uid, controllerOf(pod)?.uid]));
  return (object) => hasEnded(object) && uids.has(object.metadata.uid);
}

function isEnding(annotations: Readonly<Record<string, string>>): boolean {
  return ["evict-after", "exit-code"].some((key) => `${SIMULATION_ANNOTATION_PREFIX}${key}` in annotations);
}

/**
 * Tells the old ReplicaSets of a Deployment and the ControllerRevisions of a StatefulSet or DaemonSet: how often a workload was
 * rolled out depends on how it came about, and a recreated one has no past. Without its workload, such an object counts.
 */
function rolloutHistory(objects: readonly AnyObject[]): (object: AnyObject) => boolean {
  const uids = new Set(objects.map(({ metadata }) => metadata.uid));
  return (object) => {
    const workload = controllerOf(object);
    if (!workload?.apiVersion.startsWith("apps/") || !uids.has(workload.uid)) return false;
    if (object.kind === "ControllerRevision") return true;
    return object.kind === "ReplicaSet" && (object["spec"] as { replicas?: number } | undefined)?.replicas === 0;
  };
}

/**
 * What two runs without faults do not share: objects, and values in them by path. Both runs are correct, so none of it tells
 * whether a third run is.
 */
export type EndStateMask = ReadonlySet<string>;

/** The mask of two end states of runs without faults. */
export function endStateMask(a: EndState, b: EndState): EndStateMask {
  const mask = new Set<string>();
  const [one, other] = [bySharedKey(a), bySharedKey(b)];
  for (const key of new Set([...one.keys(), ...other.keys()])) {
    const [texts, others] = unequal(one.get(key) ?? [], other.get(key) ?? []);
    const [few, many] = [one.get(key)?.length ?? 0, other.get(key)?.length ?? 0].sort((x, y) => x - y) as [
      number,
      number,
    ];
    for (let i = few; i < many; i++) mask.add(numbered(key, i));
    for (let i = 0; i < Math.min(texts.length, others.length); i++)
      differingPaths(JSON.parse(texts[i]!), JSON.parse(others[i]!), key, mask);
  }
  return mask;
}

/** The objects that two end states do not share, of a mask. */
export function objectsIn(mask: EndStateMask): string[] {
  return [...mask].filter((entry) => !entry.includes("/"));
}

const numbered = (key: string, i: number) => (i === 0 ? key : `${key} (${i + 1})`);

/** Objects that have the same name without its random parts have one key: which is the first is chance. */
function bySharedKey(state: EndState): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [key, text] of state) {
    const shared = key.replace(/ \(\d+\)$/, "");
    found.set(shared, [...(found.get(shared) ?? []), text]);
  }
  return found;
}

/** Both lists without the texts that are in both. */
function unequal(a: readonly string[], b: readonly string[]): [string[], string[]] {
  const rest = [...b];
  const only = a.filter((text) => {
    const i = rest.indexOf(text);
    if (i >= 0) rest.splice(i, 1);
    return i < 0;
  });
  return [only, rest];
}

function differingPaths(a: unknown, b: unknown, path: string, found: Set<string>): void {
  if (JSON.stringify(a) === JSON.stringify(b)) return;
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) {
    found.add(path);
    return;
  }
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    differingPaths(a[name], b[name], `${path}/${name}`, found);
  }
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** The same text without what the mask names. */
function unmasked(key: string, text: string, mask: EndStateMask): string {
  if (![...mask].some((path) => path.startsWith(`${key}/`))) return text;
  const without = (value: unknown, path: string): unknown => {
    if (mask.has(path)) return "<masked>";
    if (Array.isArray(value)) return value.map((item, i) => without(item, `${path}/${i}`));
    if (!isContainer(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, without(inner, `${path}/${name}`)]));
  };
  return JSON.stringify(without(JSON.parse(text), key), undefined, 1);
}

/** The differences between two end states, as sentences. */
export function endStateDifferences(expected: EndState, actual: EndState, mask: EndStateMask = new Set()): string[] {
  const differences: string[] = [];
  const [one, other] = [bySharedKey(expected), bySharedKey(actual)];
  for (const [key, texts] of one) {
    const others = other.get(key) ?? [];
    const plain = (text: string) => unmasked(key, text, mask);
    const [left, right] = unequal(texts.map(plain), others.map(plain));
    for (let i = 0; i < Math.min(left.length, right.length); i++)
      differences.push(`${key} differs: ${fieldDifferences(JSON.parse(left[i]!), JSON.parse(right[i]!))}`);
    for (let i = others.length; i < texts.length; i++)
      if (!mask.has(numbered(key, i))) differences.push(`${numbered(key, i)} is missing`);
  }
  for (const [key, texts] of other) {
    for (let i = one.get(key)?.length ?? 0; i < texts.length; i++)
      if (!mask.has(numbered(key, i))) differences.push(`${numbered(key, i)} should not be there`);
  }
  return differences;
}

/** Of a pod it counts how far it is; on which way its node brought it there does not. */
function withoutWay(object: AnyObject): AnyObject {
  if (object.kind !== "Pod") return object;
  const { phase, conditions = [] } = (object["status"] ?? {}) as {
    phase?: string;
    conditions?: { type: string; status: string }[];
  };
  return { ...object, status: { phase, ready: conditions.find(({ type }) => type === "Ready")?.status } };
}

/** One object as text: equal for objects that differ only in identity, version and times. */
export function comparableText(object: AnyObject): string {
  return JSON.stringify(cleaned(withoutWay(object)));
}

function cleaned(value: unknown, key = "", kind?: string): unknown {
  if (Array.isArray(value)) return (key === "conditions" ? byType(value) : value).map((item) => cleaned(item));
  if (typeof value === "string") return TIME.test(value) ? "<time>" : value.replace(MADE_UP, "<made up>");
  if (typeof value !== "object" || value === null) return value;
  const { kind: own = kind } = value as { kind?: string };
  const secret = own === "Secret" && (key === "data" || key === "stringData");
  const entries = Object.entries(value).filter(([name, inner]) => !isByChance(name) && !isChance(inner));
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    entries.map(([name, inner]) => [name, secret ? "<secret>" : cleaned(inner, name, key === "" ? own : undefined)]),
  );
}

/** A map that has nothing but what does not count is the same as none: annotations of which another client has written the only one. */
function isChance(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const names = Object.keys(value);
  return names.length > 0 && names.every(isByChance);
}

/** What a field is called that does not count; how a simulated container behaves is a fault's doing. */
function isByChance(name: string): boolean {
  return CHANCE.has(name) || name.startsWith(SIMULATION_ANNOTATION_PREFIX);
}

/** Conditions are a map by type: a controller that changes one may move it to the end, so their order tells what happened, not what is. */
function byType(conditions: readonly unknown[]): readonly unknown[] {
  const typeOf = (condition: unknown) => String((condition as { type?: unknown } | null)?.type);
  return conditions.toSorted((a, b) => (typeOf(a) < typeOf(b) ? -1 : typeOf(a) > typeOf(b) ? 1 : 0));
}

/**
 * The nodes that pods run on. Which ones the scheduler chooses is chance, also where a status repeats their names. One that no pod
 * runs on any more is not among them: a status that still names it is out of date.
 */
function nodesOf(objects: readonly AnyObject[]): ReadonlySet<string> {
  const nodes = objects.flatMap(({ kind, spec }) =>
    kind === "Pod" ? ((spec as { nodeName?: string } | undefined)?.nodeName ?? []) : [],
  );
  return new Set(nodes);
}

/** The names of objects as an end state has them, without what the server made up. */
export function shownNames(objects: readonly AnyObject[]): (object: AnyObject) => string {
  const names = generatedNames(objects);
  return ({ metadata }) => masked(metadata.name, names);
}

/** Names that the server made up, and what they are made from; the longest first. */
function generatedNames(objects: readonly AnyObject[]): [string, string][] {
  const names: [string, string][] = [];
  for (const { metadata } of objects) {
    if (metadata.generateName) names.push([metadata.name, `${metadata.generateName}*`]);
  }
  return names.sort(([a], [b]) => b.length - a.length);
}

function masked(text: string, names: readonly [string, string][]): string {
  let result = text;
  for (const [name, mask] of names) result = result.replaceAll(name, mask);
  return result;
}
