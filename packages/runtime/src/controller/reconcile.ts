import { type Client, TransportError } from "@konverge/client";
import {
  type AnyObject,
  type Conditions,
  conditionFalse,
  conditionTrue,
  conditionUnknown,
  findCondition,
  isNotFound,
  type KindRef,
  type KubeObject,
  type ObjectKey,
  type WithConditions,
} from "@konverge/core";
import type { ChildState } from "../apply/child-state.ts";
import type { ConvergedChildren } from "../apply/children.ts";
import type { ChildrenScope } from "../apply/owned-view.ts";
import type { StatusStatement } from "../apply/status.ts";
import { OwnerGoneError } from "../apply/vanished-children.ts";
import { defaulted } from "../cache/defaulted.ts";
import { Doubts } from "../calls/doubts.ts";
import type { LayeredCall } from "../calls/layered-call.ts";
import { type AroundCall, type ReconcileScope, reconcileClient } from "../calls/reconcile-client.ts";
import { defaultFinalizer } from "../definition/controller.ts";
import type {
  Controller,
  DynamicController,
  PendingCleanup,
  ReconcileContext,
  ReconcileResult,
} from "../definition/definition.ts";
import { PermanentError } from "../errors.ts";
import type { Permit } from "../leadership/authority.ts";
import { currentReconcile, type ReconcileInProgress } from "../observe/reconciles-in-progress.ts";
import { contextFor } from "./context.ts";
import type { Daemons } from "./daemons.ts";
import { conditionsFromChildren, conditionsFromError, stillReconciling } from "./derived-conditions.ts";
import type { ReconcileTimes } from "./due-times.ts";
import type { Failure } from "./failure.ts";
import { reportedResult } from "./reported-result.ts";
import type { Wiring } from "./wiring.ts";
import { isPaused } from "./wishes.ts";

/** How a reconcile ended that did not throw. */
export interface UnfailedEnd {
  outcome: "done" | "gone" | "paused" | "waiting";
  /** Reconcile again after this many milliseconds. */
  after?: number;
}

/** Failures in a row after which an error that may pass by itself is reported in the conditions. */
const REPORTED_FAILURES = 3;
/** The reason of an object that the finalizer of a removed cleanup holds. */
const CLEANUP_MISSING = "CleanupMissing";
/** Conflicts are everyday, unless there is no end to them. */
const REPORTED_CONFLICTS = 10;
/** What may have been reported of an earlier problem, of an object without children that says by itself whether it is ready. */
const WITHDRAWN: Conditions = { Progressing: undefined, Degraded: undefined, Stalled: undefined };

/**
 * One reconcile of one object: read it, ask the reconciler for the desired state, apply it, report.
 *
 * Guarantees
 * - Where a cleanup is needed, the finalizer is stored before the first reconcile and removed only after a cleanup that did
 *   not throw. It is never added to an object that is being deleted, and not put back if a user took it away from one.
 * - An object that is being deleted is not reconciled.
 * - If the reconciler throws, no child is touched.
 * - Nothing at all is done to an object that is paused, not even cleaning up.
 */
export class Reconcile implements ReconcileScope {
  readonly writer: string;
  readonly key: ObjectKey;
  readonly permit: Permit;
  readonly signal: AbortSignal;
  readonly around: AroundCall | undefined;
  readonly written: LayeredCall[] | undefined;
  readonly isDeclared: ReconcileScope["isDeclared"];
  readonly client: Client;
  readonly #wiring: Wiring;
  readonly #daemons: Daemons | undefined;
  /** Read the object past the cache first: another replica may have acted on a newer state than is known here. */
  readonly #live: boolean;
  readonly #seen: ChildrenScope["seen"];
  readonly #inProgress: ReconcileInProgress;

  constructor(
    wiring: Wiring,
    daemons: Daemons | undefined,
    scope: Omit<ReconcileScope, "writer"> & Pick<ChildrenScope, "seen"> & { inProgress: ReconcileInProgress },
  ) {
    const { definition, cluster, doubts, view } = wiring;
    this.writer = definition.name;
    this.key = scope.key;
    this.permit = scope.permit;
    this.signal = scope.signal;
    this.around = scope.around;
    this.written = scope.written;
    this.isDeclared = definition.options.impersonate ? undefined : wiring.isDeclared;
    this.client = reconcileClient(this, { client: cluster.client, cache: cluster.cache, doubts });
    this.#wiring = wiring;
    this.#daemons = daemons;
    this.#live = view.listedAt(this.key) < this.permit.since;
    this.#seen = scope.seen;
    this.#inProgress = scope.inProgress;
  }

  async run(): Promise<UnfailedEnd> {
    const { definition, view, cluster, doubts } = this.#wiring;
    const { key } = this;
    await doubts.settle(key, this.client, cluster.cache);
    if (this.#live) await this.#readLive();
    const known = view.get(key);
    this.#seen?.(definition.kind, key, known);
    if (!known || isPaused(known)) {
      await this.#daemons?.stop(key);
      if (!known) this.#runControllers([]);
      return { outcome: known ? "paused" : "gone" };
    }
    if (known.metadata.deletionTimestamp) return await this.#cleanUp(known);
    const object = await this.#withFinalizer(known);
    if (!object) return { outcome: "gone" };
    const times = this.#wiring.times.forReconcile(key, object);
    let looked = false;
    const context = this.#context(object, times, () => {
      looked = true;
    });
    const returned = currentReconcile.run(this.#inProgress, () => definition.options.reconcile(object, context));
    if (!looked && !isPromise(returned)) this.#followsFromObject();
    const applied = await this.#apply(object, (await returned) ?? {});
    if (!applied) return { outcome: view.get(key) ? "done" : "gone" };
    const { result, converged } = applied;
    this.#daemons?.tend(view.get(key) ?? object);
    const after = earlier(earlier(result.requeueAfter, converged?.outcome.retryAfter), times.settle());
    return { outcome: "done", ...(after !== undefined && { after }) };
  }

  /** Makes children and status as the result has them. Undefined: the object has turned out to be gone. */
  async #apply(object: KubeObject, returned: ReconcileResult) {
    const { children, status } = this.#wiring;
    try {
      if (returned.controllers) this.#runControllers(returned.controllers);
      const converged = returned.children && (await children.converge(returned.children, this.#childrenScope(object)));
      const result = reportedResult(returned, converged?.outcome);
      await status.write(object, this.#statement(result, converged), this.client);
      return { result, converged };
    } catch (error) {
      // What was read of it is in the cache now, and an event of its own.
      if (error instanceof OwnerGoneError) return undefined;
      throw error;
    }
  }

  /** Reports a failure in the object's conditions and events, if it is worth reporting. */
  async report(failure: Failure, failures: number): Promise<void> {
    const { definition, view, status, events } = this.#wiring;
    const object = view.get(this.key);
    const { outcome, reason, message } = failure;
    if (!object || outcome === "stopped" || definition.options.logErrorsOnly) return;
    // A server that does not answer would not take a report either.
    if (failure.error instanceof TransportError) return;
    if (outcome === "transient" && failures + 1 < REPORTED_FAILURES) return;
    if (outcome === "conflict" && failures + 1 < REPORTED_CONFLICTS) return;
    const why = object.metadata.deletionTimestamp && reason !== CLEANUP_MISSING ? "CleanupFailed" : reason;
    // What passes by itself is said where it can be unsaid; a kind without conditions has no such place.
    if (outcome !== "external" || !status.derivesConditions) events.about(object).warning(why, message);
    if (!status.derivesConditions) return;
    const conditions = conditionsFromError(why, message, { permanent: outcome === "permanent" });
    await status.write(object, { conditions }, this.client);
  }

  #runControllers(controllers: readonly DynamicController[]): void {
    const { definition, cluster } = this.#wiring;
    cluster.dynamic.keep({ controller: definition.name, key: this.key }, controllers);
  }

  #context(object: KubeObject, times: ReconcileTimes, looks: () => void): ReconcileContext {
    const { client, signal } = this;
    return contextFor(this.#wiring, object, { client, signal, times, clusters: () => this.#clusters(), looks });
  }

  #clusters(): ReadonlyMap<string, Client> {
    const { name, clients, caches } = this.#wiring.cluster;
    // What is in doubt in another cluster is not looked up before the next reconcile: this one's reads do not depend on it.
    const doubts = new Doubts();
    return new Map(
      [...clients].map(([other, client]) => [
        other,
        other === name ? this.client : reconcileClient(this, { client, cache: caches.get(other)!, doubts }),
      ]),
    );
  }

  /** The result came at once, and nothing else was looked at: what is done to children cannot change it. */
  #followsFromObject(): void {
    // An abandoned reconcile can continue while another one is in progress.
    if (!this.signal.aborted) this.#wiring.selfContained.add(this.key);
  }

  async #readLive(): Promise<void> {
    try {
      await this.client.get(this.#wiring.definition.kind, this.key);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #statement(result: ReconcileResult, converged: ConvergedChildren | undefined): StatusStatement {
    const states = converged && (result.report ? acceptedStates(converged) : converged.states);
    const conditions = { ...this.#derivedConditions(result, states), ...result.conditions };
    const reported = result.status as object | undefined;
    const whole = wholeStatusOf(result, this.#wiring.definition);
    return { ...(reported && { status: reported }), conditions, ...(whole && { whole }) };
  }

  #derivedConditions(result: ReconcileResult, states: readonly ChildState[] | undefined): Conditions {
    const { conditions = {} } = result;
    const { status, definition } = this.#wiring;
    if (!status.derivesConditions) return {};
    if (states)
      return { ...conditionsFromChildren(states), Reconciling: stillReconciling(conditions["Ready"], states) };
    // Children that the result says nothing about may be in any state; without any, an object that was reconciled is ready.
    if (definition.owns.length > 0) return { ...this.#unknownReadiness(result), Stalled: undefined };
    return "Ready" in conditions ? WITHDRAWN : conditionsFromChildren([]);
  }

  /** Of an object that was never ready, and of which the result does not say whether it is: it would wait for that forever. */
  #unknownReadiness({ status, conditions = {} }: ReconcileResult): Conditions {
    const { view, definition, log } = this.#wiring;
    if (status === undefined || "Ready" in conditions) return {};
    if (findCondition((view.get(this.key) as WithConditions | undefined)?.status?.conditions, "Ready")) return {};
    const kinds = definition.owns.map(({ kind }) => kind.kind).join(", ");
    const message = `reconcile returned a status and no children, so it is not known whether its ${kinds} is ready: return children ([] for none) or conditions.Ready`;
    log.warn({ object: this.key }, `${definition.kind.kind} ${this.key} cannot become Ready: ${message}`);
    return { Ready: conditionUnknown("ChildrenNotReturned", message) };
  }

  async #withFinalizer(object: KubeObject): Promise<KubeObject | undefined> {
    const { finalizer, options } = this.#wiring.definition;
    const { finalizers = [] } = object.metadata;
    if (!finalizer || finalizers.includes(finalizer)) return object;
    if (options.needsCleanup?.(object) === false) return object;
    return this.#setFinalizers(object, [...finalizers, finalizer]);
  }

  async #cleanUp(object: KubeObject): Promise<UnfailedEnd> {
    const { definition, children } = this.#wiring;
    const { finalizers = [] } = object.metadata;
    await this.#daemons?.stop(this.key);
    if (!definition.finalizer) checkAbandoned(definition, finalizers);
    if (!definition.finalizer || !finalizers.includes(definition.finalizer)) return { outcome: "done" };
    const { cleanup } = definition.options;
    const times = this.#wiring.times.forReconcile(this.key, object);
    const context = this.#context(object, times, () => {});
    const unfinished = await currentReconcile.run(this.#inProgress, () => cleanup?.(object, context));
    if (unfinished?.controllers) this.#runControllers(unfinished.controllers);
    if (unfinished) return this.#waitFor(object, unfinished);
    const which = definition.options.teardown === "ordered" ? "all" : "labelled";
    const remaining = await children.release(this.#childrenScope(object), which);
    if (remaining.length > 0) return this.#waitFor(object, { waitingFor: remaining.join(", ") });
    const others = finalizers.filter((name) => name !== definition.finalizer);
    await this.#setFinalizers(object, others);
    return { outcome: "done" };
  }

  async #waitFor(object: KubeObject, { waitingFor, requeueAfter: after }: PendingCleanup): Promise<UnfailedEnd> {
    const { status, events } = this.#wiring;
    const message = `the deletion waits for ${waitingFor}`;
    events.about(object).normal("CleaningUp", message, { action: "Cleanup" });
    if (status.derivesConditions) {
      const conditions = {
        Ready: conditionFalse("CleaningUp", message),
        Progressing: conditionTrue("CleaningUp", message),
      };
      await status.write(object, { conditions }, this.client);
    }
    return { outcome: "waiting", ...(after !== undefined && { after }) };
  }

  /**
   * Fails with a conflict if another client has written the object since: its finalizers must not be lost. Undefined if
   * the object is gone by now, with nothing left to hold back.
   */
  async #setFinalizers(object: KubeObject, finalizers: string[]): Promise<KubeObject | undefined> {
    const { uid, resourceVersion } = object.metadata;
    const kind = this.#wiring.definition.kind as KindRef<AnyObject>;
    try {
      const answer = await this.client.patch(kind, this.key, {
        merge: { metadata: { uid, resourceVersion, finalizers } },
      });
      return defaulted(kind, answer);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return undefined;
    }
  }

  #childrenScope(owner: KubeObject): ChildrenScope {
    const { client } = this;
    const events = this.#wiring.events.about(owner);
    const tenant = this.#wiring.definition.options.impersonate?.(owner);
    return {
      owner,
      client,
      writer: tenant ? client.as(tenant) : client,
      tenant: tenant?.user,
      ...(this.#seen && { seen: this.#seen }),
      report: (reason, message) => events.normal(reason, message),
    };
  }
}

/**
 * An earlier version of the controller had a cleanup, and its finalizer holds the object. What that cleanup did is
 * unknown here, and a role without cleanup cannot remove finalizers: so what holds the object is reported, and what
 * users can do.
 */
function checkAbandoned({ kind, name }: Controller, finalizers: readonly string[]): void {
  const finalizer = defaultFinalizer(kind, name);
  if (!finalizers.includes(finalizer)) return;
  throw new PermanentError(
    CLEANUP_MISSING,
    `the finalizer ${finalizer} holds this object, and the controller ${name} that set it has no cleanup any more: put the cleanup back, or, if nothing is left to clean up, set cleanup: () => undefined until all objects with the finalizer are gone`,
  );
}

/** A result with a status of the other form than its controller's is a mistake that would go unnoticed. */
function wholeStatusOf(result: ReconcileResult, { name, options }: Controller): object | undefined {
  const { status, conditions, wholeStatus } = result;
  const isWhole = options.status === "whole";
  if (isWhole ? status || Object.keys(conditions ?? {}).length > 0 : wholeStatus) {
    const advice = isWhole
      ? "return `wholeStatus` instead of `status` and `conditions`"
      : 'set `status: "whole"` or return `status`';
    throw new PermanentError("InvalidResult", `${name}: the status is not of the form that its options say: ${advice}`);
  }
  return wholeStatus as object | undefined;
}

/** What was refused is for the reconciler's own report to say. */
function acceptedStates({ states, outcome }: ConvergedChildren): readonly ChildState[] {
  return states.filter(({ planned }) => !outcome.refused.some(({ child }) => child === planned.draft));
}

export const isPromise = <R>(value: R | Promise<R>): value is Promise<R> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
