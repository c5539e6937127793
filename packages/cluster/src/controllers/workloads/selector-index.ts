import { type KubeObject, type LabelSelector, type ObjectKey, selectsLabels } from "@konverge/core";
import type { CacheChange } from "@konverge/runtime";

/**
 * Finds the objects of a controller's kind whose selector matches an object. The controller keeps the index current with
 * {@link follow}, and calls {@link matching} to find the possible adopters of an object without a controller.
 */
export class SelectorIndex<T extends KubeObject> {
  readonly #selectorOf: (object: T) => LabelSelector | undefined;
  /** By namespace. */
  readonly #selectors = new Map<string, Map<ObjectKey, LabelSelector>>();

  constructor(selectorOf: (object: T) => LabelSelector | undefined) {
    this.#selectorOf = selectorOf;
  }

  /** To be used as a controller's `when`: notes the change, and always says yes. */
  readonly follow = ({ type, key, object }: CacheChange<T>): boolean => {
    const namespace = object.metadata.namespace ?? "";
    const known = this.#selectors.get(namespace);
    const selector = type === "deleted" ? undefined : this.#selectorOf(object);
    if (!selector) known?.delete(key);
    else if (known) known.set(key, selector);
    else this.#selectors.set(namespace, new Map([[key, selector]]));
    return true;
  };

  /** The keys of those in the same namespace that select it. An empty selector selects nothing. */
  matching({ metadata }: KubeObject): ObjectKey[] {
    const keys: ObjectKey[] = [];
    for (const [key, selector] of this.#selectors.get(metadata.namespace ?? "") ?? []) {
      if (!isEmptySelector(selector) && selectsLabels(selector, metadata.labels)) keys.push(key);
    }
    return keys;
  }
}

/** Whether a selector selects everything. */
export function isEmptySelector({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0;
}
