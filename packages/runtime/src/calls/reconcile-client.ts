import { type CallOptions, type Client, hasUnknownOutcome } from "@konverge/client";
import { ApiError, isNotFound, type KubeObject, type ObjectKey, splitKey } from "@konverge/core";
import type { Cache } from "../cache/cache.ts";
import type { Permit } from "../leadership/authority.ts";
import type { ApiCall } from "../observe/observer.ts";
import type { Doubts } from "./doubts.ts";
import type { LayeredCall } from "./layered-call.ts";
import { layeredClient } from "./layered-client.ts";
import { withRemedy } from "./permission-remedy.ts";

/** On whose behalf requests are sent, and until when. */
export interface ReconcileScope {
  /** The controller: owns what is written. */
  readonly writer: string;
  /** The key that is being reconciled. */
  readonly key: ObjectKey;
  readonly signal: AbortSignal;
  readonly permit: Permit;
  /** Wraps the sending of each request. */
  readonly around?: AroundCall | undefined;
  /** Gets each write that has succeeded. */
  readonly written?: LayeredCall[] | undefined;
  /** Whether the controller declares the permission for a call; absent for one that acts as its tenants. */
  readonly isDeclared?: ((call: ApiCall) => boolean) | undefined;
}

/** Sends a request by `send`, and returns its result. */
export type AroundCall = <R>(call: ApiCall, send: () => Promise<R>) => Promise<R>;

/** The cluster that requests go to, and what is known of it. */
export interface ClientPlace {
  readonly client: Client;
  readonly cache: Cache;
  readonly doubts: Doubts;
}

/**
 * The client of one reconcile.
 *
 * Guarantees
 * - What it writes, and what it reads, is in the cache before the verb resolves, however late the watch is.
 * - After the reconcile's signal has fired, or its permit has run out, nothing is sent. What is in progress by then is
 *   given up, before the permit runs out.
 * - A write without a response is remembered as one with an unknown outcome.
 */
export function reconcileClient(scope: ReconcileScope, { client, cache, doubts }: ClientPlace): Client {
  const { signal, permit, around, writer, written } = scope;
  const layer = async <R>(call: LayeredCall, send: (limits: CallOptions) => Promise<R>): Promise<R> => {
    const { signal: own } = call.options;
    const limits: CallOptions = { signal: own && own !== signal ? AbortSignal.any([own, signal]) : signal };
    if (isWrite(call)) {
      permit.check();
      if (Number.isFinite(permit.deadline)) {
        limits.deadline = Math.min(permit.deadline, call.options.deadline ?? Number.POSITIVE_INFINITY);
      }
    }
    const uid = call.options.preconditions?.uid ?? (call.key && cache.uidOf(call.kind, call.key));
    // What a dry run returns has not happened.
    const isDryRun = client.dryRun && isWrite(call);
    const over = isWrite(call) && call.key ? cache.expect(call.kind, call.key) : undefined;
    try {
      const answer = await (around ? around(call, () => send(limits)) : send(limits));
      if (isWrite(call)) written?.push(call);
      if (!isDryRun) note(cache, writer, call, answer as KubeObject | undefined, uid);
      return answer;
    } catch (error) {
      if (uid && call.key && isGone(error, call.key)) cache.missed(call.kind, call.key, uid, undefined);
      if (!isDryRun && isInDoubt(call, error)) doubts.add(scope.key, call);
      throw scope.isDeclared ? withRemedy(error, call, scope.isDeclared) : error;
    } finally {
      over?.();
    }
  };
  return layeredClient(client, layer, writer);
}

const isWrite = ({ verb }: LayeredCall) => verb !== "get" && verb !== "list";

/** Other subresources answer with objects of their own, such as a Scale. */
const isWhole = ({ subresource }: LayeredCall) => subresource === undefined || subresource === "status";

function note(
  cache: Cache,
  writer: string,
  call: LayeredCall,
  object: KubeObject | undefined,
  uid: string | undefined,
): void {
  const { verb, kind, key, options } = call;
  if (options.dryRun || verb === "list" || verb === "deletecollection") return;
  if (verb !== "delete") {
    // A raw request may be answered with anything.
    if (object && isWhole(call)) cache.saw(kind, object, verb === "get" ? undefined : writer);
  } else if (object && remains(object)) cache.saw(kind, object, writer);
  else {
    // What was known under that name when the request was sent is gone as well, if it was another one.
    for (const gone of new Set([object?.metadata.uid, uid])) if (gone) cache.missed(kind, key!, gone, writer);
  }
}

/** The outcome of the write is unknown. */
function isInDoubt(call: LayeredCall, error: unknown): boolean {
  if (!isWrite(call) || call.options.dryRun) return false;
  return hasUnknownOutcome(error) || (error instanceof ApiError && UNSURE.has(error.code));
}

/** The object is not there. A server that does not know the resource says NotFound as well, but of no object. */
function isGone(error: unknown, key: ObjectKey): boolean {
  return isNotFound(error) && (error as ApiError).details?.name === splitKey(key).name;
}

/** Answers that a server, or one in between, gives without knowing what became of the write. */
const UNSURE = new Set([500, 502, 503, 504]);

/** A deleted object is still there while finalizers or a grace period hold it. */
function remains({ metadata }: KubeObject): boolean {
  if (!metadata.deletionTimestamp) return false;
  return (metadata.finalizers?.length ?? 0) > 0 || (metadata.deletionGracePeriodSeconds ?? 0) > 0;
}
