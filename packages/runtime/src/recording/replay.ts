import {
  type ApiError,
  type Clock,
  groupKindText,
  type KindRef,
  type KubeObject,
  keyOf,
  parseApiVersion,
  seededRandom,
  VirtualClock,
} from "@konverge/core";
import { type Child, nameOf, planned } from "../apply/child.ts";
import type { ChildrenOutcome } from "../apply/outcome.ts";
import { dynamicName } from "../cache/own-managers.ts";
import { drawnFrom } from "../controller/observed-clock.ts";
import { reportedResult } from "../controller/reported-result.ts";
import type {
  CacheReader,
  Controller,
  DynamicController,
  ObservedChildren,
  ReconcileContext,
  ReconcileResult,
} from "../definition/definition.ts";
import type { ExternalError } from "../errors.ts";
import { silentLog } from "../log.ts";
import { differencesOf, type ReconcileIntent, type ReplayDifference } from "./differences.ts";
import { readRecording } from "./read-recording.ts";
import { recordedResult } from "./recorded-result.ts";
import { RecordedWorld, thrown, writeOf } from "./recorded-world.ts";
import type { RecordedReconcile, RecordedResult, RecordedStep } from "./recording.ts";

/** A recorded reconcile, and what the current code does. */
export interface ReplayedReconcile {
  readonly recorded: RecordedReconcile;
  /** Why it could not be replayed. */
  readonly skipped?: string;
  readonly before: ReconcileIntent;
  readonly after: ReconcileIntent;
  /** What it would do differently; empty if it would do the same. */
  readonly differences: readonly ReplayDifference[];
  /** Reads that are not in the recording, and what was assumed. */
  readonly unrecorded: readonly string[];
}

/** Turns of the event loop after which a reconcile counts as hanging. */
const LONGEST = 100_000;

/**
 * Puts what a {@link ReconcileRecorder} has recorded to the current controllers, and reports what they would do
 * differently:
 *
 * ```ts
 * for await (const { recorded, differences } of replayRecording("reconciles.jsonl", [models])) {
 *   if (differences.length > 0) console.log(recorded.key, differences);
 * }
 * ```
 *
 * Reads are answered from the recording, from the cache as well as from the server; nothing is sent anywhere. What is
 * done outside the cluster is answered, too, if it was done by way of `context.callExternal`, as `external` does;
 * whatever else a reconciler does by itself, it does.
 */
export async function* replayRecording(
  file: string,
  controllers: Controller | readonly Controller[],
): AsyncGenerator<ReplayedReconcile, void, void> {
  // Those that a reconciler returns are put the questions that follow.
  const list = "kind" in controllers ? [controllers] : [...controllers];
  const found = (parent: string, dynamic: readonly DynamicController[]) => {
    for (const { controller } of dynamic) {
      const name = dynamicName(parent, controller.name);
      const known = list.findIndex((one) => one.name === name);
      list.splice(known < 0 ? list.length : known, known < 0 ? 0 : 1, { ...controller, name });
    }
  };
  for await (const recorded of readRecording(file)) {
    const definition = list.find(({ name }) => name === recorded.controller);
    const called = recorded.steps.find((step) => step.step === "called");
    if (!called) continue;
    const skip = (skipped: string) => ({ ...NOTHING, recorded, skipped });
    if (!definition) yield skip(`there is no controller called ${recorded.controller}`);
    else if (called.what === "cleanup" && !definition.options.cleanup) yield skip(`${definition.name} has no cleanup`);
    else yield await replayOne(definition, recorded, called, (dynamic) => found(definition.name, dynamic));
  }
}

const NOTHING = {
  before: { result: {}, writes: [], events: [] },
  after: { result: {}, writes: [], events: [] },
  differences: [],
  unrecorded: [],
};

async function replayOne(
  { name, options, owns, kind }: Controller,
  recorded: RecordedReconcile,
  { what, object }: Extract<RecordedStep, { step: "called" }>,
  found: (controllers: readonly DynamicController[]) => void,
): Promise<ReplayedReconcile> {
  const world = new RecordedWorld(recorded);
  const clock = new VirtualClock({ start: recorded.at });
  const events: ReconcileIntent["events"][number][] = [];
  const client = world.client(name, clock);
  const context: ReconcileContext = {
    observed: observedIn(world, object, [kind, ...owns.map((one) => one.kind)]),
    cache: cacheIn(world),
    client,
    tenantClient: client,
    events: {
      normal: (reason, message) => void events.push({ type: "Normal", reason, message }),
      warning: (reason, message) => void events.push({ type: "Warning", reason, message }),
    },
    callExternal: <R>(label: string) => world.outside(label) as Promise<R>,
    isDue: (label) => world.draw<number>(`due ${label}`, 0) === 1,
    isServed: (served) => world.draw<number>(`served ${groupKindText(served)}`, 1) === 1,
    controllerState: (running) => JSON.parse(world.draw<string>(`controller ${running}`, "null")) ?? undefined,
    signal: new AbortController().signal,
    log: silentLog,
    clock: clockIn(world, clock),
    cluster: recorded.cluster,
    clusters: new Map([[recorded.cluster, client]]),
  };
  const ask = async (): Promise<RecordedResult> => {
    if (what === "cleanup")
      return recordedResult({ unfinished: (await options.cleanup!(object, context)) ?? undefined }, object);
    const result = ((await options.reconcile(object, context)) ?? {}) as ReconcileResult;
    found(result.controllers ?? []);
    return recordedResult({ result: reportedResult(result, outcomeIn(recorded, result, object)) }, object);
  };
  const result = await during(ask(), clock).catch((error: unknown) => recordedResult({ error }, object));
  const before = recordedIntent(recorded);
  const after: ReconcileIntent = { result, writes: world.writes, events };
  return { recorded, before, after, differences: differencesOf(before, after), unrecorded: world.unrecorded };
}

/** The desired state, own writes and events of the recorded code. */
function recordedIntent({ steps }: RecordedReconcile): ReconcileIntent {
  const from = steps.findIndex(({ step }) => step === "called");
  const end = steps.findIndex(({ step }) => step === "returned");
  const own = steps.slice(from + 1, end < 0 ? undefined : end);
  const returned = end < 0 ? undefined : (steps[end] as Extract<RecordedStep, { step: "returned" }>);
  const reported = steps.find((step) => step.step === "reported");
  const spoken = reported ? steps.slice(from + 1, steps.indexOf(reported)) : own;
  return {
    result: returned
      ? withReport(returned.result, reported?.report)
      : { error: { name: "Error", message: "it was interrupted" } },
    writes: own.flatMap((step) => (step.step === "call" ? (writeOf(step.call) ?? []) : [])),
    events: spoken.flatMap((step) => {
      if (step.step !== "event") return [];
      const { type, reason, message } = step;
      return [{ type, reason, message }];
    }),
  };
}

function withReport(result: RecordedResult, report: RecordedResult | undefined): RecordedResult {
  if (!report) return result;
  const conditions = { ...result.conditions, ...report.conditions };
  return { ...result, ...report, ...(Object.keys(conditions).length > 0 && { conditions }) };
}

/** What became of the children that the recorded code returned, for those that are returned now. */
function outcomeIn(
  { steps }: RecordedReconcile,
  result: ReconcileResult,
  owner: KubeObject,
): ChildrenOutcome | undefined {
  const { outcome } = steps.find((step) => step.step === "reported") ?? {};
  if (!outcome) return undefined;
  const { created, deleted } = outcome;
  const refused = (result.children ?? []).map(planned).flatMap(({ draft }) => {
    const found = outcome.refused.find(({ child }) => child === nameOf(draft, owner));
    if (!found) return [];
    const error = thrown(found.error) as ApiError | ExternalError;
    return [{ child: draft, reason: error.reason, message: error.message, error }];
  });
  return { created, deleted, refused };
}

/** Waits for a reconcile while its time passes. */
async function during<R>(promise: Promise<R>, clock: VirtualClock): Promise<R> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  promise.then(settle, settle);
  for (let turn = 0; !settled && turn < LONGEST; turn++) await clock.step();
  if (!settled) throw new Error("it does not end: is it waiting for something that was not recorded?");
  return promise;
}

function observedIn(world: RecordedWorld, owner: KubeObject, kinds: readonly KindRef<KubeObject>[]): ObservedChildren {
  const one = (what: Child | KindRef<KubeObject>, name?: string) => {
    const isDraft = name === undefined;
    const draft = what as Child;
    const { group, kind } = isDraft
      ? { group: parseApiVersion(draft.apiVersion).group, kind: draft.kind }
      : (what as KindRef<KubeObject>);
    const declared = kinds.find((known) => known.group === group && known.kind === kind);
    const namespace = (isDraft ? draft.metadata.namespace : undefined) ?? owner.metadata.namespace;
    const metadata = { name: (isDraft ? draft.metadata.name : name) ?? "" };
    const key = keyOf({
      metadata: declared?.namespaced === false || !namespace ? metadata : { ...metadata, namespace },
    });
    return world.read({ group, kind }, key);
  };
  const all = (kind: KindRef<KubeObject>) => world.list({ kind, children: true });
  return Object.assign(one, { all }) as unknown as ObservedChildren;
}

function cacheIn(world: RecordedWorld): CacheReader {
  return {
    get: (kind, key) => world.read(kind, key) as never,
    list: (kind, namespace) => world.list({ kind, ...(namespace && { namespace }) }) as never,
    find: (kind, index, value) => world.list({ kind, index, value }) as never,
  };
}

function clockIn(world: RecordedWorld, clock: VirtualClock): Clock {
  const random = seededRandom(1);
  return {
    now: () => world.draw("now", clock.now()),
    monotonic: () => world.draw("monotonic", clock.monotonic()),
    after: (ms, task, options) => clock.after(ms, task, options),
    post: (task, label) => clock.post(task, label),
    random: drawnFrom(
      () => world.draw("next", random.next()),
      () => world.draw("uuid", random.uuid()),
    ),
    secrets: { text: (length, alphabet) => world.draw("secret", clock.secrets.text(length, alphabet)) },
  };
}
