import type { Client } from "@konverge/client";
import { type AnyObject, type Clock, type KindRef, type KubeObject, keyOf, parseApiVersion } from "@konverge/core";
import type { Child, Children } from "../apply/children.ts";
import type { StatusWriter } from "../apply/status.ts";
import type { Informer } from "../cache/informer.ts";
import type { Log } from "../log.ts";
import type { Context, Controller, Observed, Result } from "./definition.ts";

export interface PassOptions {
  definition: Controller;
  informer: Informer<KubeObject>;
  children: Children;
  status: StatusWriter;
  client: Client;
  clock: Clock;
  log: Log;
}

/**
 * One look at one object: read it, ask the reconciler what shall be, make it so, report.
 *
 * Guarantees
 * - With a cleanup, the finalizer is stored before the first reconcile and removed only after a cleanup that did not
 *   throw. It is never added to an object that is being deleted, and not put back if a user took it away from one.
 * - An object that is being deleted is not reconciled.
 * - If the reconciler throws, no child is touched.
 */
export class Pass {
  readonly #options: PassOptions;

  constructor(options: PassOptions) {
    this.#options = options;
  }

  async run(key: string, signal: AbortSignal): Promise<{ after?: number }> {
    const { definition, informer, children, status } = this.#options;
    let object = informer.get(key);
    if (!object) return {};
    if (object.metadata.deletionTimestamp) {
      await this.#cleanUp(object, signal);
      return {};
    }
    object = await this.#withFinalizer(object, signal);
    const result: Result = (await definition.options.reconcile(object, this.#context(object, signal))) ?? {};
    if (result.children) await children.converge(object, result.children, signal);
    if (result.status || result.conditions) await status.write(object, result, signal);
    return result.after === undefined ? {} : { after: result.after };
  }

  async #withFinalizer(object: KubeObject, signal: AbortSignal): Promise<KubeObject> {
    const { finalizer } = this.#options.definition;
    const { finalizers = [] } = object.metadata;
    if (!finalizer || finalizers.includes(finalizer)) return object;
    return this.#setFinalizers(object, [...finalizers, finalizer], signal);
  }

  async #cleanUp(object: KubeObject, signal: AbortSignal): Promise<void> {
    const { definition } = this.#options;
    const { finalizers = [] } = object.metadata;
    if (!definition.finalizer || !finalizers.includes(definition.finalizer)) return;
    await definition.options.cleanup!(object, this.#context(object, signal));
    await this.#setFinalizers(
      object,
      finalizers.filter((name) => name !== definition.finalizer),
      signal,
    );
  }

  /** Fails with a conflict if anybody has written the object since: their finalizers must not be lost. */
  #setFinalizers(object: KubeObject, finalizers: string[], signal: AbortSignal): Promise<KubeObject> {
    const { client, definition } = this.#options;
    const { uid, resourceVersion } = object.metadata;
    return client.patch(
      definition.kind as KindRef<AnyObject>,
      keyOf(object),
      { merge: { metadata: { uid, resourceVersion, finalizers } } },
      { signal },
    );
  }

  #context(object: KubeObject, signal: AbortSignal): Context {
    const { client, clock, log } = this.#options;
    return { observed: this.#observed(object), client, clock, signal, log: log.child({ object: keyOf(object) }) };
  }

  #observed(owner: KubeObject): Observed {
    const { children } = this.#options;
    const one = (what: Child | KindRef<KubeObject>, name?: string) =>
      name === undefined
        ? children.observed(owner, draftKind(what as Child), (what as Child).metadata.name ?? "")
        : children.observed(owner, what as KindRef<KubeObject>, name);
    return Object.assign(one, {
      all: (kind: KindRef<KubeObject>) => children.all(owner, kind),
    }) as unknown as Observed;
  }
}

function draftKind(child: Child): { group: string; kind: string } {
  return { group: parseApiVersion(child.apiVersion).group, kind: child.kind };
}
