import type { KindRef } from "./kind-ref.ts";
import type { KubeObject, MadeByKind } from "./object.ts";

const kinds = new WeakMap<object, KindRef<KubeObject>>();

/** The object, which verbs now take without its kind: what a kind's `draft` and `new` return. */
export function madeBy<O extends object>(kind: KindRef<KubeObject>, object: O): O {
  kinds.set(object, kind);
  return object;
}

/** The kind whose `draft` or `new` returned this object; a copy of it has none. */
export function kindOfMade<T extends KubeObject>(object: MadeByKind<T>): KindRef<T> | undefined {
  return kinds.get(object) as KindRef<T> | undefined;
}
