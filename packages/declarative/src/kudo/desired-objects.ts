/** The objects of an instance that there are to be: those of the tasks that run, and those that earlier ones have made. */
import { createHash } from "node:crypto";
import type { KubeObject } from "@konverge/core";
import { identity } from "../helm/rendered-objects.ts";
import type { AppliedObject } from "./kudo-kinds.ts";
import type { TaskPlace } from "./run-plan.ts";

/** An object that is applied, and the record of it. */
interface Desired {
  readonly draft: KubeObject;
  readonly record: AppliedObject;
}

/** Renders an object again that a task has made; undefined if that cannot give what was applied. */
export type RenderAgain = (record: AppliedObject) => KubeObject | undefined;

export class DesiredObjects {
  readonly #earlier: Map<string, AppliedObject>;
  readonly #now = new Map<string, Desired>();
  readonly #dropped = new Set<string>();
  readonly #renderAgain: RenderAgain;
  readonly #again = new Map<string, KubeObject | undefined>();

  constructor(earlier: readonly AppliedObject[], renderAgain: RenderAgain) {
    this.#earlier = new Map(earlier.map((record) => [identityOf(record), record]));
    this.#renderAgain = renderAgain;
  }

  /** A task makes the object. `digest`: of what its template rendered; without, it cannot be rendered again. */
  apply(draft: KubeObject, place: TaskPlace, uid: string, more: Pick<AppliedObject, "digest" | "dependencies">): void {
    const { apiVersion, kind, metadata } = draft;
    const { namespace, name } = metadata;
    const record = { apiVersion, kind, name: name!, ...(namespace && { namespace }), ...place, uid, ...more };
    this.#now.set(identity(draft), { draft, record });
    this.#dropped.delete(identity(draft));
  }

  /** A task deletes the object. */
  drop(object: KubeObject): void {
    this.#earlier.delete(identity(object));
    this.#now.delete(identity(object));
    this.#dropped.add(identity(object));
  }

  isDropped(object: KubeObject): boolean {
    return this.#dropped.has(identity(object));
  }

  /** The object as it is applied; undefined if it is none of the instance, or cannot be rendered again. */
  find(key: string): KubeObject | undefined {
    const now = this.#now.get(key);
    if (now) return now.draft;
    const record = this.#earlier.get(key);
    if (!record) return undefined;
    if (!this.#again.has(key)) this.#again.set(key, this.#renderAgain(record));
    return this.#again.get(key);
  }

  /** All objects that are applied. */
  drafts(): KubeObject[] {
    return this.records().flatMap((record) => this.find(identityOf(record)) ?? []);
  }

  /** In the order in which they were made first. */
  records(): AppliedObject[] {
    const all = new Map(this.#earlier);
    for (const [key, { record }] of this.#now) all.set(key, record);
    return [...all.values()];
  }
}

/** The identity of the object of a record. */
export function identityOf({ apiVersion, kind, name, namespace }: AppliedObject): string {
  return identity({ apiVersion, kind, metadata: { name, ...(namespace && { namespace }) } } as KubeObject);
}

/** Identifies what a template rendered. */
export function digestOf(object: KubeObject): string {
  return createHash("sha256").update(JSON.stringify(object)).digest("hex").slice(0, 16);
}
