import { type AnyObject, controllerOf, isNotFound, type KindRef, keyOf, parseApiVersion } from "@konverge/core";
import { runScenario } from "../stage/embedded-stage.ts";
import type { OperatorTestEnvironment } from "../stage/operator-stage.ts";
import type { Scenario } from "../stage/stage.ts";
import { endState, endStateDifferences } from "./end-state.ts";
import { edited, ownedFields } from "./owned-fields.ts";
import { failureText, restlessness, type SurvivalOptions } from "./play-to-end.ts";

/** How interference with children is explored. */
export interface DriftRunOptions extends SurvivalOptions {
  /** Of many fields, only every so manieth is edited. Default: 1, all of them. */
  readonly every?: number;
  /** Children that are not interfered with, or one of whose fields is not, as a JSON pointer. */
  readonly except?: (child: AnyObject, pointer?: string) => boolean;
}

/** What was found out by deleting and editing children. */
export interface DriftFindings {
  readonly children: number;
  /** Fields that were edited or removed, and that the server let be. */
  readonly edits: number;
  /** Empty, if all was put right, and what is somebody else's was left alone. */
  readonly problems: readonly string[];
}

/** Who edits by hand. */
const SOMEBODY = "kubectl-edit";
const MARK = "example.com/by-hand";

interface Bench {
  readonly stage: OperatorTestEnvironment;
  readonly options: DriftRunOptions;
  /** How everything stood before. */
  readonly state: Map<string, string>;
  readonly problems: string[];
}

/**
 * Plays a scenario to its end, then interferes with each child of the operator's objects: it is deleted; each field that
 * the operator has applied is changed by hand, and removed. Every time everything must become as it was. A label and an
 * annotation that somebody adds are somebody else's, and must stay.
 *
 * Children are objects whose controller is of one of the operator's kinds. Edits that the server refuses do not count.
 */
export async function driftRuns(scenario: Scenario, options: DriftRunOptions = {}): Promise<DriftFindings> {
  const findings = await runScenario(scenario, options.environment, {}, async (stage) => {
    await stage.settled();
    const bench: Bench = { stage, options, state: await standing(stage, options), problems: [] };
    const children = await childrenOf(bench);
    let edits = 0;
    for (const { kind, object } of children) edits += await editAll(bench, kind, object);
    for (const { kind, object } of children) await deleted(bench, kind, object);
    bench.problems.push(...(await restlessness(stage)));
    return { children: children.length, edits, problems: bench.problems };
  });
  return findings!;
}

interface Found {
  readonly kind: KindRef<AnyObject>;
  readonly object: AnyObject;
}

async function childrenOf({ stage, options }: Bench): Promise<Found[]> {
  const { resources } = await stage.client.mapper.refresh();
  const found: Found[] = [];
  const seen = new Set<string>();
  for (const kind of resources) {
    const id = `${kind.plural}.${kind.group}`;
    if (!kind.namespaced || seen.has(id) || !kind.verbs.includes("list") || !kind.verbs.includes("patch")) continue;
    seen.add(id);
    for (const object of await stage.list(kind as KindRef<AnyObject>)) {
      if (isChild(stage, object) && !options.except?.(object)) found.push({ kind: kind as KindRef<AnyObject>, object });
    }
  }
  return found;
}

function isChild(stage: OperatorTestEnvironment, object: AnyObject): boolean {
  const owner = controllerOf(object);
  return owner !== undefined && isOwn(stage, owner);
}

function isOwn(stage: OperatorTestEnvironment, { apiVersion, kind }: { apiVersion: string; kind: string }): boolean {
  const { group } = parseApiVersion(apiVersion);
  return stage.kinds.some((one) => one.kind === kind && one.group === group);
}

/**
 * The operator's objects with what they say, and their children as they are asked for. What others make of children
 * (pods, revisions of the past) shows in what the operator's objects say.
 */
function standing(stage: OperatorTestEnvironment, { mask }: DriftRunOptions): Promise<Map<string, string>> {
  const asked = (object: AnyObject): AnyObject => {
    const { status, ...rest } = mask ? mask(object) : object;
    const { "deployment.kubernetes.io/revision": _, ...annotations } = rest.metadata.annotations ?? {};
    const shown = { ...rest, metadata: { ...rest.metadata, annotations } };
    // How often something was changed tells that it was interfered with, not how it stands.
    const { observedGeneration: __, ...told } = (status ?? {}) as Record<string, unknown>;
    return isOwn(stage, object) ? { ...shown, status: told } : shown;
  };
  return endState(stage, asked, (object) => isOwn(stage, object) || isChild(stage, object));
}

/** Everything is as it was; otherwise it is told what somebody did. */
async function isRepaired({ stage, options, state, problems }: Bench, what: string): Promise<boolean> {
  const before = problems.length;
  try {
    await stage.settled();
    const now = await standing(stage, options);
    problems.push(...endStateDifferences(state, now).map((problem) => `${what}: ${problem}`));
  } catch (error) {
    problems.push(`${what}: ${failureText(error)}`);
  }
  return problems.length === before;
}

async function deleted(bench: Bench, kind: KindRef<AnyObject>, { metadata }: AnyObject): Promise<void> {
  const { stage } = bench;
  const what = `${kind.kind} ${metadata.name} deleted`;
  await stage.client.delete(kind, keyOf({ metadata })).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
  await isRepaired(bench, what);
}

/** Edits one field after the other; how many edits the server let be. */
async function editAll(bench: Bench, kind: KindRef<AnyObject>, child: AnyObject): Promise<number> {
  const { options } = bench;
  const managers = (child.metadata.managedFields ?? []).filter(({ operation, subresource }) => {
    return operation === "Apply" && !subresource;
  });
  let edits = 0;
  for (const { manager } of managers) {
    const fields = ownedFields(child, manager!).filter(({ pointer }) => !options.except?.(child, pointer));
    for (const [i, field] of fields.entries()) {
      if (i % (options.every ?? 1) !== 0) continue;
      for (const how of ["replace", "remove"] as const) {
        if (await isEdited(bench, kind, child, manager!, field.pointer, how)) edits++;
      }
    }
  }
  if (managers.length > 0) await expectLeftAlone(bench, kind, child);
  return edits;
}

/** Changes or removes a field by hand and waits for its repair. False if that cannot be done. */
async function isEdited(
  bench: Bench,
  kind: KindRef<AnyObject>,
  child: AnyObject,
  manager: string,
  pointer: string,
  how: "replace" | "remove",
): Promise<boolean> {
  const { stage } = bench;
  const { metadata } = child;
  // Lists may have been repaired in another order: where the field is now counts.
  const live = await stage.find(kind, metadata.name);
  const field = live && ownedFields(live, manager).find((one) => one.pointer === pointer);
  if (!field) return false;
  const value = edited(field.value);
  if (how === "replace" && value === undefined) return false;
  const patch = [{ op: how, path: pointer, ...(how === "replace" && { value }) }];
  try {
    await stage.client.patch(kind, keyOf(child), { json: patch as never }, { fieldManager: SOMEBODY });
  } catch {
    return false;
  }
  const done = how === "replace" ? `changed to ${JSON.stringify(value)}` : "removed";
  if (await isRepaired(bench, `${kind.kind} ${metadata.name}, ${pointer} ${done}`)) return true;
  // What is not repaired is undone, or it would be told again with everything that follows.
  const undo = [{ op: how === "replace" ? "replace" : "add", path: pointer, value: field.value }];
  await stage.client.patch(kind, keyOf(child), { json: undo as never }, { fieldManager: SOMEBODY }).catch(() => {});
  await stage.settled();
  return true;
}

async function expectLeftAlone({ stage, options, problems }: Bench, kind: KindRef<AnyObject>, { metadata }: AnyObject) {
  if (options.except?.({ metadata } as AnyObject, "/metadata/labels")) return;
  const marks = { [MARK]: "yes" };
  const key = keyOf({ metadata });
  const mark = (value: object | null) =>
    stage.client.patch(kind, key, { merge: { metadata: value as never } }, { fieldManager: SOMEBODY });
  await mark({ labels: marks, annotations: marks });
  await stage.settled();
  const live = await stage.find(kind, metadata.name);
  for (const place of ["labels", "annotations"] as const) {
    if (live?.metadata[place]?.[MARK] !== "yes") {
      problems.push(`${kind.kind} ${metadata.name}: one of its ${place} was somebody else's, and is gone`);
    }
  }
  await mark({ labels: { [MARK]: null }, annotations: { [MARK]: null } });
  await stage.settled();
}
