import {
  apiVersionOf,
  type Draft,
  type Drafted,
  type KindRef,
  type KubeObject,
  type MadeByKind,
  madeBy,
  type NewDraft,
  type NoOtherFields,
  type UnnamedDraft,
} from "@konverge/core";

/**
 * A kind whose objects have a type: its group, version, kind and plural for the client's verbs, and methods to create
 * objects.
 *
 *     const Widget = new TypedKind<Widget>({ group: "example.com", version: "v1", kind: "Widget", plural: "widgets", namespaced: true });
 */
export class TypedKind<T extends KubeObject> implements KindRef<T> {
  declare readonly __type?: T;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;

  constructor({ group, version, kind, plural, namespaced }: Omit<KindRef<T>, "__type">) {
    this.group = group;
    this.version = version;
    this.kind = kind;
    this.plural = plural;
    this.namespaced = namespaced;
  }

  /** An object to apply, such as a child: with its apiVersion and kind, and nothing else filled in. */
  draft<D extends UnnamedDraft<T>>(object: D & NoOtherFields<UnnamedDraft<T>, D>): Drafted<T>;
  draft<D extends Draft<T>>(object: D & NoOtherFields<Draft<T>, D>): Drafted<T>;
  draft(object: object): Drafted<T> {
    return typed(this, object) as Drafted<T>;
  }

  /** An object as a server returns it, for example for a test. Defaults of built-in kinds are not filled in. */
  new<D extends NewDraft<T>>(object: D & NoOtherFields<NewDraft<T>, D>): T & MadeByKind<T> {
    return typed(this, object) as T & MadeByKind<T>;
  }
}

function typed(kind: KindRef<KubeObject>, object: object): object {
  return madeBy(kind, { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object });
}
