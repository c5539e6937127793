import { type AnyObject, isNotFound, type KindRef, keyOf } from "@konverge/core";
import type { OperatorTestEnvironment } from "../../environment/operator-test-environment.ts";
import type { Scenario } from "../../environment/test-environment.ts";
import { type EndState, endStateDifferences } from "../end-state.ts";
import { hasEnded } from "../ended-objects.ts";
import { inPart } from "../part.ts";
import { failureText, restlessness } from "./idle-operator.ts";
import { edited, ownedFields } from "./owned-fields.ts";
import type { PassOptions, PassResult } from "./pass.ts";
import { type Recording, recorded } from "./recording.ts";
import { isChild, standing } from "./standing.ts";

/** Who edits by hand. */
const SOMEBODY = "kubectl-edit";
const MARK = "example.com/by-hand";

interface Bench {
  readonly recording: Recording;
  readonly environment: OperatorTestEnvironment;
  readonly options: PassOptions;
  /** How everything stood before. */
  state: EndState;
}

/**
 * Runs a scenario, then deletes each child of the operator's objects, and changes and removes each field that the operator
 * has applied. Every time the previous state must come back. A label and an annotation that another client adds must stay.
 *
 * Children are objects whose controller is of one of the operator's kinds. Edits that the server rejects do not count.
 */
export async function driftPass(scenario: Scenario, options: PassOptions = {}): Promise<PassResult> {
  const played = ({ observed }: Recording) => scenario(observed);
  const { result: tried, problems } = await recorded(played, options, {}, async (recording) => {
    const { environment } = recording;
    await environment.settled();
    const bench: Bench = { recording, environment, options, state: await standing(environment, options) };
    const children = inPart(await childrenOf(bench), options.part);
    let edits = 0;
    try {
      for (const { kind, object } of children) edits += await editAll(bench, kind, object);
      // What has ended is done: no operator has to repeat it.
      for (const { kind, object } of children) if (!hasEnded(object)) await deleted(bench, kind, object);
      recording.begins("nothing more is done");
      recording.report(...(await restlessness(environment)));
    } catch (error) {
      if (!(error instanceof Wedged)) throw error;
      recording.report(error.message);
    }
    return children.length + edits;
  });
  return { tried, runs: 1, problems };
}

interface Found {
  readonly kind: KindRef<AnyObject>;
  readonly object: AnyObject;
}

async function childrenOf({ environment, options }: Bench): Promise<Found[]> {
  const { resources } = await environment.client.mapper.refresh();
  const found: Found[] = [];
  const seen = new Set<string>();
  for (const kind of resources) {
    const id = `${kind.plural}.${kind.group}`;
    if (!kind.namespaced || seen.has(id) || !kind.verbs.includes("list") || !kind.verbs.includes("patch")) continue;
    seen.add(id);
    for (const object of await environment.list(kind as KindRef<AnyObject>)) {
      if (isChild(environment, object) && !options.except?.(object))
        found.push({ kind: kind as KindRef<AnyObject>, object });
    }
  }
  return found;
}

/** Everything is as it was; otherwise what another client did is reported. */
async function isRepaired({ recording, environment, options, state }: Bench, what: string): Promise<boolean> {
  const before = recording.problems.length;
  try {
    await environment.settled();
    const now = await standing(environment, options);
    recording.report(...endStateDifferences(state, now).map((problem) => `${what}: ${problem}`));
  } catch (error) {
    recording.report(`${what}: ${failureText(error)}`);
  }
  return recording.problems.length === before;
}

async function deleted(bench: Bench, kind: KindRef<AnyObject>, { metadata }: AnyObject): Promise<void> {
  const { environment } = bench;
  const what = `${kind.kind} ${metadata.name} deleted`;
  bench.recording.begins(what);
  await environment.client
    .delete(kind, keyOf({ metadata }), { propagationPolicy: "Background" })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  if (!(await isRepaired(bench, what))) await acceptState(bench, what);
}

/** The operator no longer works: whatever is edited from now on would be blamed for it. */
class Wedged extends Error {}

/** After drift that was not repaired: from here on the present state counts, so that later edits are not blamed for it. */
async function acceptState(bench: Bench, what: string): Promise<void> {
  try {
    await bench.environment.settled();
  } catch {
    throw new Wedged(`${what}: the operator does not recover, so no more is edited`);
  }
  bench.state = await standing(bench.environment, bench.options);
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
  const { environment } = bench;
  const { metadata } = child;
  // Lists may have been repaired in another order: where the field is now counts.
  const live = await environment.find(kind, metadata.name);
  const field = live && ownedFields(live, manager).find((one) => one.pointer === pointer);
  if (!field) return false;
  const value = edited(field.value);
  if (how === "replace" && value === undefined) return false;
  const patch = [{ op: how, path: pointer, ...(how === "replace" && { value }) }];
  const done = how === "replace" ? `changed to ${JSON.stringify(value)}` : "removed";
  const what = `${kind.kind} ${metadata.name}, ${pointer} ${done}`;
  bench.recording.begins(what);
  try {
    await environment.client.patch(kind, keyOf(child), { json: patch as never }, { fieldManager: SOMEBODY });
  } catch {
    return false;
  }
  if (await isRepaired(bench, what)) return true;
  // What is not repaired is undone, or it would be reported again with everything that follows.
  const undo = [{ op: how === "replace" ? "replace" : "add", path: pointer, value: field.value }];
  await environment.client
    .patch(kind, keyOf(child), { json: undo as never }, { fieldManager: SOMEBODY })
    .catch(() => {});
  await acceptState(bench, what);
  return true;
}

async function expectLeftAlone(
  { recording, environment, options }: Bench,
  kind: KindRef<AnyObject>,
  { metadata }: AnyObject,
) {
  if (options.except?.({ metadata } as AnyObject, "/metadata/labels")) return;
  const marks = { [MARK]: "yes" };
  const key = keyOf({ metadata });
  const mark = (value: object | null) =>
    environment.client.patch(kind, key, { merge: { metadata: value as never } }, { fieldManager: SOMEBODY });
  recording.begins(`${kind.kind} ${metadata.name}, a label and an annotation added`);
  await mark({ labels: marks, annotations: marks });
  await environment.settled();
  const live = await environment.find(kind, metadata.name);
  for (const place of ["labels", "annotations"] as const) {
    if (live?.metadata[place]?.[MARK] !== "yes") {
      recording.report(`${kind.kind} ${metadata.name}: one of the ${place} that another client set was removed`);
    }
  }
  await mark({ labels: { [MARK]: null }, annotations: { [MARK]: null } });
  await environment.settled();
}
