import { type Client, TransportError } from "@konverge/client";
import {
  type AnyObject,
  type Conditions,
  conditionFalse,
  conditionTrue,
  isNotFound,
  type KindRef,
  type KubeObject,
  type ObjectKey,
} from "@konverge/core";
import type { ChildState } from "../apply/child-state.ts";
import type { Children, ChildrenPass } from "../apply/children.ts";
import type { StatusStatement, StatusWriter } from "../apply/status.ts";
import { defaulted } from "../cache/defaulted.ts";
import type { CacheView } from "../cache/view.ts";
import { defaultFinalizer } from "../definition/controller.ts";
import type { Controller, PendingCleanup, ReconcileContext, ReconcileResult } from "../definition/definition.ts";
import { PermanentError } from "../errors.ts";
import type { EventRecorder } from "../events/recorder.ts";
import type { ReconcileObserver } from "../observe/observer.ts";
import type { Daemons } from "./daemons.ts";
import { conditionsFromChildren, conditionsFromError } from "./derived-conditions.ts";
import type { DueTimes, PassTimes } from "./due-times.ts";
import type { Failure } from "./failure.ts";
import { isPaused } from "./wishes.ts";

/** What all passes of a controller share. */
export interface PassTools {
  definition: Controller;
  view: CacheView<KubeObject>;
  children: Children;
  status: StatusWriter;
  events: EventRecorder;
  context: (object: KubeObject, one: OnePass, times: PassTimes, looks: () => void) => ReconcileContext;
  times: DueTimes;
  /** Undefined if the controller has none. */
  daemons: Daemons | undefined;
}

/** What is new in each pass. */
export interface OnePass {
  key: ObjectKey;
  client: Client;
  /** The clients of all clusters, held to the same limits. */
  clusters: () => ReadonlyMap<string, Client>;
  signal: AbortSignal;
  observer: ReconcileObserver | undefined;
  /**
   * Told that the reconciler's result follows from the object alone: it came at once, and nothing else was looked at. What
   * this pass does to children cannot make it another one.
   */
  followsFromObject: () => void;
  /** Read the object past the cache first: somebody else may have acted on a newer state than is known here. */
  live: boolean;
}

/** How a pass ended that did not throw. */
export interface PassEnd {
  outcome: "done" | "gone" | "paused" | "waiting";
  /** Look again after this many milliseconds. */
  after?: number;
}

/** Failures in a row after which an error that may pass by itself is reported in the conditions. */
const REPORTED_FAILURES = 3;
/** The reason of an object that the finalizer of a removed cleanup holds. */
const CLEANUP_MISSING = "CleanupMissing";
/** Conflicts are everyday, unless there is no end to them. */
const REPORTED_CONFLICTS = 10;

/**
 * One look at one object: read it, ask the reconciler what shall be, make it so, report.
 *
 * Guarantees
 * - With a cleanup, the finalizer is stored before the first reconcile and removed only after a cleanup that did not
 *   throw. It is never added to an object that is being deleted, and not put back if a user took it away from one.
 * - An object that is being deleted is not reconciled.
 * - If the reconciler throws, no child is touched.
 * - Nothing at all is done to an object that is paused, not even cleaning up.
 */
export class Pass {
  readonly #tools: PassTools;

  constructor(tools: PassTools) {
    this.#tools = tools;
  }

  async run(one: OnePass): Promise<PassEnd> {
    const { definition, view, children, status } = this.#tools;
    if (one.live) await this.#readLive(one);
    const known = view.get(one.key);
    one.observer?.objectRead?.(definition.kind, one.key, known);
    if (!known || isPaused(known)) {
      await this.#tools.daemons?.stop(one.key);
      return { outcome: known ? "paused" : "gone" };
    }
    if (known.metadata.deletionTimestamp) return await this.#cleanUp(known, one);
    const object = await this.#withFinalizer(known, one);
    if (!object) return { outcome: "gone" };
    const times = this.#tools.times.forPass(one.key, object);
    let looked = false;
    const context = this.#tools.context(object, one, times, () => {
      looked = true;
    });
    const reconcile = async () => {
      const result = definition.options.reconcile(object, context);
      if (!looked && !isPromise(result)) one.followsFromObject();
      return (await result) ?? {};
    };
    const result: ReconcileResult = await told(one.observer, "reconcile", object, reconcile);
    const states = result.children && (await children.converge(result.children, this.#childrenPass(object, one)));
    await status.write(object, this.#statement(result, states), one.client);
    this.#tools.daemons?.tend(view.get(one.key) ?? object);
    const after = earlier(result.requeueAfter, times.settle());
    return { outcome: "done", ...(after !== undefined && { after }) };
  }

  /** Tells the object's users what went wrong, where that is worth telling. */
  async report(failure: Failure, failures: number, one: OnePass): Promise<void> {
    const { definition, view, status, events } = this.#tools;
    const object = view.get(one.key);
    const { outcome, reason, message } = failure;
    if (!object || outcome === "stopped" || definition.options.logErrorsOnly) return;
    // A server that does not answer would not take a report either.
    if (failure.error instanceof TransportError) return;
    if (outcome === "transient" && failures + 1 < REPORTED_FAILURES) return;
    if (outcome === "conflict" && failures + 1 < REPORTED_CONFLICTS) return;
    const why = object.metadata.deletionTimestamp && reason !== CLEANUP_MISSING ? "CleanupFailed" : reason;
    // What passes by itself is said where it can be unsaid; a kind without conditions has no such place.
    if (outcome !== "external" || !status.hasConditions) events.about(object).warning(why, message);
    if (!status.hasConditions) return;
    const conditions = conditionsFromError(why, message, { permanent: outcome === "permanent" });
    await status.write(object, { conditions }, one.client);
  }

  async #readLive({ client, key }: OnePass): Promise<void> {
    try {
      await client.get(this.#tools.definition.kind, key);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #statement(result: ReconcileResult, states: readonly ChildState[] | undefined): StatusStatement {
    const { status } = this.#tools;
    const derived: Conditions = states && status.hasConditions ? conditionsFromChildren(states) : {};
    const conditions = { ...derived, ...result.conditions };
    const reported = result.status as object | undefined;
    return { ...(reported && { status: reported }), conditions };
  }

  async #withFinalizer(object: KubeObject, one: OnePass): Promise<KubeObject | undefined> {
    const { finalizer } = this.#tools.definition;
    const { finalizers = [] } = object.metadata;
    if (!finalizer || finalizers.includes(finalizer)) return object;
    return this.#setFinalizers(object, [...finalizers, finalizer], one);
  }

  async #cleanUp(object: KubeObject, one: OnePass): Promise<PassEnd> {
    const { definition, children } = this.#tools;
    const { finalizers = [] } = object.metadata;
    await this.#tools.daemons?.stop(one.key);
    if (!definition.finalizer) checkAbandoned(definition, finalizers);
    if (!definition.finalizer || !finalizers.includes(definition.finalizer)) return { outcome: "done" };
    const { cleanup } = definition.options;
    const times = this.#tools.times.forPass(one.key, object);
    const context = this.#tools.context(object, one, times, () => {});
    const clean = async () => await cleanup?.(object, context);
    const unfinished = cleanup && (await told(one.observer, "cleanup", object, clean));
    if (unfinished) return this.#waitFor(object, unfinished, one);
    const which = definition.options.teardown === "ordered" ? "all" : "labelled";
    const remaining = await children.release(this.#childrenPass(object, one), which);
    if (remaining.length > 0) return this.#waitFor(object, { waitingFor: remaining.join(", ") }, one);
    const others = finalizers.filter((name) => name !== definition.finalizer);
    await this.#setFinalizers(object, others, one);
    return { outcome: "done" };
  }

  async #waitFor(
    object: KubeObject,
    { waitingFor, requeueAfter: after }: PendingCleanup,
    one: OnePass,
  ): Promise<PassEnd> {
    const { status, events } = this.#tools;
    const message = `the deletion waits for ${waitingFor}`;
    events.about(object).normal("CleaningUp", message, { action: "Cleanup" });
    if (status.hasConditions) {
      const conditions = {
        Ready: conditionFalse("CleaningUp", message),
        Progressing: conditionTrue("CleaningUp", message),
      };
      await status.write(object, { conditions }, one.client);
    }
    return { outcome: "waiting", ...(after !== undefined && { after }) };
  }

  /**
   * Fails with a conflict if anybody has written the object since: their finalizers must not be lost. Undefined if the
   * object is gone by now, with nothing left to hold back.
   */
  async #setFinalizers(
    object: KubeObject,
    finalizers: string[],
    { client, key }: OnePass,
  ): Promise<KubeObject | undefined> {
    const { uid, resourceVersion } = object.metadata;
    const kind = this.#tools.definition.kind as KindRef<AnyObject>;
    try {
      const answer = await client.patch(kind, key, { merge: { metadata: { uid, resourceVersion, finalizers } } });
      return defaulted(kind, answer);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return undefined;
    }
  }

  #childrenPass(owner: KubeObject, { client, observer }: OnePass): ChildrenPass {
    const events = this.#tools.events.about(owner);
    const tenant = this.#tools.definition.options.impersonate?.(owner);
    return {
      owner,
      client,
      writer: tenant ? client.as(tenant) : client,
      tenant: tenant?.user,
      ...(observer?.objectRead && { seen: observer.objectRead.bind(observer) }),
      report: (reason, message) => events.normal(reason, message),
    };
  }
}

/**
 * An earlier version of the controller had a cleanup, and its finalizer holds the object. What that cleanup did is unknown here, and a
 * role without cleanup cannot remove finalizers: so the object's users are told what holds it, and how to decide.
 */
function checkAbandoned({ kind, name }: Controller, finalizers: readonly string[]): void {
  const finalizer = defaultFinalizer(kind, name);
  if (!finalizers.includes(finalizer)) return;
  throw new PermanentError(
    CLEANUP_MISSING,
    `the finalizer ${finalizer} holds this object, and the controller ${name} that set it has no cleanup any more: put the cleanup back, or, if nothing is left to clean up, set cleanup: () => undefined until all objects with the finalizer are gone`,
  );
}

const isPromise = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** Asks a function of the controller's, and tells what it is asked and what it answers. */
async function told<R>(
  observer: ReconcileObserver | undefined,
  what: "reconcile" | "cleanup",
  object: KubeObject,
  ask: () => Promise<R>,
): Promise<R> {
  observer?.called?.(what, object);
  try {
    const answer = await ask();
    observer?.returned?.(
      what === "reconcile" ? { result: answer as ReconcileResult } : { unfinished: answer as PendingCleanup },
    );
    return answer;
  } catch (error) {
    observer?.returned?.({ error });
    throw error;
  }
}
