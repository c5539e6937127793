import { deepCopy, deepEqual } from "@konverge/core";
import type { WorkingObject } from "../codec/working-object.ts";

/**
 * What mutating admission of one write has done so far. A webhook or policy that changed the object makes the whole chain
 * run a second time, never a third: in-tree plugins always, webhooks and policies as their reinvocationPolicy has it.
 */
export class Reinvocation {
  /** Whether this is the second pass. */
  isSecondPass = false;
  /** Whether the first pass has to be followed by a second. */
  isNeeded = false;
  readonly #callouts = new Map<string, Callouts>();

  /** The webhooks or policies that a plugin runs. */
  calloutsOf(plugin: string): Callouts {
    let callouts = this.#callouts.get(plugin);
    if (!callouts) {
      callouts = new Callouts(this);
      this.#callouts.set(plugin, callouts);
    }
    return callouts;
  }
}

/** Which webhooks or policies of one plugin ran before the object changed, and therefore run again. */
export class Callouts {
  readonly #reinvocation: Reinvocation;
  /** Those with IfNeeded that saw the object as it is now. */
  #current = new Set<string>();
  readonly #again = new Set<string>();
  #output: WorkingObject | undefined;

  constructor(reinvocation: Reinvocation) {
    this.#reinvocation = reinvocation;
  }

  /** Before the first plugin of a round: what other plugins changed since the last one concerns all that ran before. */
  begin(object: WorkingObject | undefined): void {
    if (this.#reinvocation.isSecondPass && !deepEqual(this.#output, object)) this.#outdate();
  }

  /** Whether one takes part in this round: in the second only if it ran in the first and the object changed since. */
  takesPart(key: string): boolean {
    return !this.#reinvocation.isSecondPass || this.#again.has(key);
  }

  /** One of them changed the object. */
  changed(): void {
    this.#outdate();
    this.#reinvocation.isNeeded = true;
  }

  /** One of them ran, after its change was reported if it made any. */
  ran(key: string, reinvocationPolicy: string | undefined): void {
    if (reinvocationPolicy === "IfNeeded") this.#current.add(key);
  }

  /** After the last plugin of a round. In-tree plugins change objects in place: hence the copy. */
  end(object: WorkingObject | undefined): void {
    this.#output = object && deepCopy(object);
  }

  #outdate(): void {
    for (const key of this.#current) this.#again.add(key);
    this.#current.clear();
  }
}
