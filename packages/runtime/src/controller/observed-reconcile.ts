import { groupKindText, type KindRef, type KubeObject, keyOf } from "@konverge/core";
import type { Child } from "../apply/child.ts";
import type { Children } from "../apply/children.ts";
import type { ChildrenScope } from "../apply/owned-view.ts";
import type { AroundCall } from "../calls/reconcile-client.ts";
import type {
  CacheReader,
  ObservedChildren,
  PendingCleanup,
  ReconcileContext,
  Reconciled,
  ReconcileResult,
} from "../definition/definition.ts";
import type { EventSink } from "../events/event-sink.ts";
import type { CacheQuery, ReconcileObserver } from "../observe/observer.ts";
import { childPlace } from "./context.ts";
import { observedClock } from "./observed-clock.ts";
import { isPromise } from "./reconcile.ts";
import type { Wiring } from "./wiring.ts";

/** What a reconcile is run with, decorated so that an observer learns of everything that happens in it. */
export interface ObservedReconcile extends Pick<ChildrenScope, "seen"> {
  /** The controller's functions report when they are called and what they return; so does the context they get. */
  readonly wiring: Wiring;
  /** Reports each request. */
  readonly around: AroundCall;
}

/** Decorates a reconcile. Nothing below knows of observers. */
export function observedReconcile(wiring: Wiring, observer: ReconcileObserver): ObservedReconcile {
  const { definition, children, cluster } = wiring;
  const { options } = definition;
  const { cleanup } = options;
  const around = (object: KubeObject, context: ReconcileContext) =>
    observedContext(context, object, children, observer);
  const observed: typeof options = {
    ...options,
    reconcile(object, context) {
      const returned = observedFunction(observer, "reconcile", object, () =>
        options.reconcile(object, around(object, context)),
      );
      return isPromise(returned)
        ? returned.then((result) => observedReport(result, observer))
        : observedReport(returned, observer);
    },
    ...(cleanup && {
      cleanup: (object: KubeObject, context: ReconcileContext) =>
        observedFunction(observer, "cleanup", object, () => cleanup.call(options, object, around(object, context))),
    }),
  };
  return {
    wiring: { ...wiring, definition: { ...definition, options: observed } },
    async around(call, send) {
      const answered = observer.apiCall?.(call);
      const started = cluster.clock.monotonic();
      try {
        const answer = await send();
        answered?.({ ...(isObject(answer) && { object: answer }), duration: cluster.clock.monotonic() - started });
        return answer;
      } catch (error) {
        answered?.({ error, duration: cluster.clock.monotonic() - started });
        throw error;
      }
    },
    ...(observer.objectRead && { seen: observer.objectRead.bind(observer) }),
  };
}

function observedReport(result: Reconciled<KubeObject>, observer: ReconcileObserver): Reconciled<KubeObject> {
  const { report } = result ?? {};
  if (!result || !report || !observer.reported) return result;
  return {
    ...result,
    report(outcome) {
      const reported = report(outcome);
      observer.reported?.(outcome, reported ?? {});
      return reported;
    },
  };
}

/** Streams are answers, too, of which there is nothing to report. */
const isObject = (answer: unknown): answer is KubeObject =>
  typeof answer === "object" && answer !== null && "metadata" in answer;

/** Calls a function of the controller. A result that is not a promise stays one that is not. */
function observedFunction<R>(
  observer: ReconcileObserver,
  what: "reconcile" | "cleanup",
  object: KubeObject,
  call: () => R | Promise<R>,
): R | Promise<R> {
  const returned = (answer: R): R => {
    observer.returned?.(
      what === "reconcile" ? { result: (answer ?? {}) as ReconcileResult } : { unfinished: answer as PendingCleanup },
    );
    return answer;
  };
  const failed = (error: unknown): never => {
    observer.returned?.({ error });
    throw error;
  };
  observer.called?.(what, object);
  let answer: R | Promise<R>;
  try {
    answer = call();
  } catch (error) {
    return failed(error);
  }
  return isPromise(answer) ? answer.then(returned, failed) : returned(answer);
}

function observedContext(
  context: ReconcileContext,
  object: KubeObject,
  children: Children,
  observer: ReconcileObserver,
): ReconcileContext {
  return {
    get observed() {
      return observedChildren(context.observed, object, children, observer);
    },
    get cache() {
      return observedCache(context.cache, observer);
    },
    get client() {
      return context.client;
    },
    get tenantClient() {
      return context.tenantClient;
    },
    events: observer.eventRecorded ? observedEvents(context.events, observer) : context.events,
    async callExternal(name, work) {
      const ended = observer.externalCall?.(name);
      try {
        const value = await context.callExternal(name, work);
        ended?.({ value });
        return value;
      } catch (error) {
        ended?.({ error });
        throw error;
      }
    },
    isDue(name, rhythm) {
      const isDue = context.isDue(name, rhythm);
      observer.inputRead?.(`due ${name}`, isDue ? 1 : 0);
      return isDue;
    },
    isServed(kind) {
      const isServed = context.isServed(kind);
      observer.inputRead?.(`served ${groupKindText(kind)}`, isServed ? 1 : 0);
      return isServed;
    },
    controllerState(name) {
      const state = context.controllerState(name);
      observer.inputRead?.(`controller ${name}`, JSON.stringify(state ?? null));
      return state;
    },
    signal: context.signal,
    get log() {
      return context.log;
    },
    clock: observer.inputRead ? observedClock(context.clock, observer.inputRead.bind(observer)) : context.clock,
    cluster: context.cluster,
    get clusters() {
      return context.clusters;
    },
  };
}

function observedEvents(sink: EventSink, observer: ReconcileObserver): EventSink {
  return {
    normal(reason, message, options) {
      observer.eventRecorded?.({ type: "Normal", reason, message });
      sink.normal(reason, message, options);
    },
    warning(reason, message, options) {
      observer.eventRecorded?.({ type: "Warning", reason, message });
      sink.warning(reason, message, options);
    },
  };
}

function observedChildren(
  inner: ObservedChildren,
  owner: KubeObject,
  children: Children,
  observer: ReconcileObserver,
): ObservedChildren {
  const one = (what: Child | KindRef<KubeObject>, name?: string) => {
    const child = (inner as (what: unknown, name?: string) => KubeObject | undefined)(what, name);
    const { owned, key } = childPlace(children, owner, what, name);
    observer.objectRead?.(owned.declared.kind, key, child);
    return child;
  };
  const all = (kind: KindRef<KubeObject>) => reportList(observer, { kind, children: true }, inner.all(kind));
  return Object.assign(one, { all }) as unknown as ObservedChildren;
}

function observedCache(cache: CacheReader, observer: ReconcileObserver): CacheReader {
  return {
    get(kind, key) {
      const object = cache.get(kind, key);
      observer.objectRead?.(untyped(kind), key, object);
      return object;
    },
    list: (kind, namespace) =>
      reportList(observer, { kind: untyped(kind), ...(namespace && { namespace }) }, cache.list(kind, namespace)),
    find: (kind, index, value) =>
      reportList(observer, { kind: untyped(kind), index, value }, cache.find(kind, index, value)),
  };
}

function reportList<T extends KubeObject>(observer: ReconcileObserver, query: CacheQuery, objects: T[]): T[] {
  for (const object of objects) observer.objectRead?.(query.kind, keyOf(object), object);
  observer.listed?.(query, objects);
  return objects;
}

const untyped = <T extends KubeObject>(kind: KindRef<T>) => kind as unknown as KindRef<KubeObject>;
