import { isMetadataOnly } from "@konverge/client";
import {
  apiVersionOf,
  compareVersions,
  groupKindText,
  type KindRef,
  type KubeObject,
  keyOf,
  type ObjectKey,
  splitKey,
} from "@konverge/core";
import type { CacheView } from "../cache/view.ts";
import type { CacheReader } from "../definition/definition.ts";

/**
 * What a controller has declared that it reads, as one: several declarations of a kind, with other selectors or in other
 * namespaces, are read as their union.
 *
 * Guarantees
 * - A view that holds everything that is asked for answers alone. Otherwise all that may hold some of it do; of an object
 *   that several hold, the newest state counts.
 * - What no declaration covers (a kind, a namespace, more than metadata) is an error, not an object that is not there.
 */
export class CachedReads implements CacheReader {
  readonly #controller: string;
  readonly #views: readonly CacheView<KubeObject>[];
  readonly #byKind = new WeakMap<KindRef<KubeObject>, readonly CacheView<KubeObject>[]>();

  constructor(controller: string, views: readonly CacheView<KubeObject>[]) {
    this.#controller = controller;
    this.#views = views;
  }

  get<T extends KubeObject>(kind: KindRef<T>, key: ObjectKey): T | undefined {
    const { namespace } = splitKey(key);
    if (kind.namespaced !== (namespace !== undefined)) throw this.#misnamed(kind, key);
    let newest: T | undefined;
    for (const view of this.#holding(kind, namespace)) {
      const found = view.get(key);
      if (found && compareVersions(found.metadata.resourceVersion, newest?.metadata.resourceVersion) > 0)
        newest = found;
    }
    return newest;
  }

  list<T extends KubeObject>(kind: KindRef<T>, namespace?: string): T[] {
    return united(this.#holding(kind, namespace).map((view) => view.list(namespace)));
  }

  find<T extends KubeObject>(kind: KindRef<T>, index: string, value: string): T[] {
    const views = this.#declared(kind).filter((view) => view.hasIndex(index));
    if (views.length === 0) {
      const where = `\`indexes\` of a watchKind(${kind.kind}, …) or cacheKind(${kind.kind}, …)`;
      throw new TypeError(`${this.#controller}: there is no index ${JSON.stringify(index)}: declare it in ${where}`);
    }
    return united(enough(views, undefined).map((view) => [...view.find(index, value)].map((key) => view.get(key)!)));
  }

  /** The views that together hold what there is of a kind, in a namespace or in all that were declared. */
  #holding<T extends KubeObject>(kind: KindRef<T>, namespace: string | undefined): readonly CacheView<T>[] {
    const declared = this.#declared(kind);
    const views = namespace === undefined ? declared : declared.filter((view) => view.reaches(namespace));
    if (views.length === 0) throw this.#outOfReach(kind, namespace!, declared);
    return enough(views, namespace);
  }

  #declared<T extends KubeObject>(kind: KindRef<T>): readonly CacheView<T>[] {
    const known = this.#byKind.get(kind) as unknown as readonly CacheView<T>[] | undefined;
    if (known) return known;
    const views = this.#choose(kind);
    this.#byKind.set(kind, views as unknown as readonly CacheView<KubeObject>[]);
    return views;
  }

  #choose<T extends KubeObject>(kind: KindRef<T>): readonly CacheView<T>[] {
    const { plural, group, version } = kind;
    const ofKind = this.#views.filter((one) => one.kind.plural === plural && one.kind.group === group);
    if (ofKind.length === 0) throw this.#undeclared(kind);
    const same = ofKind.filter((one) => one.kind.version === version) as unknown as CacheView<T>[];
    if (same.length === 0) {
      const declared = ofKind.map((one) => apiVersionOf(one.kind)).join(" and ");
      throw this.#mistake(kind, `as ${apiVersionOf(kind)}, which it has declared as ${declared}: use the same version`);
    }
    const fitting = same.filter((one) => isMetadataOnly(one.kind) === isMetadataOnly(kind));
    if (fitting.length > 0) return fitting;
    // Whole objects have metadata, too.
    if (isMetadataOnly(kind)) return same;
    throw this.#mistake(
      kind,
      `of which it has declared the metadata alone: add cacheKind(${kind.kind}) to \`watches\`, or read metadataOnly(${kind.kind})`,
    );
  }

  #undeclared(kind: KindRef<KubeObject>): TypeError {
    return this.#mistake(
      kind,
      `without having declared it: add watchKind(${kind.kind}, …) or cacheKind(${kind.kind}) to \`watches\`, or ask the server with \`client\``,
    );
  }

  #misnamed(kind: KindRef<KubeObject>, key: ObjectKey): TypeError {
    const form = kind.namespaced
      ? "is namespaced: its keys are `namespace/name`"
      : "has no namespaces: its keys are names";
    return this.#mistake(kind, `by the key ${JSON.stringify(key)}, but it ${form}`);
  }

  #outOfReach(
    kind: KindRef<KubeObject>,
    namespace: string,
    declared: readonly Pick<CacheView<KubeObject>, "namespaces">[],
  ): TypeError {
    const reached = [...new Set(declared.flatMap((view) => view.namespaces ?? []))].join(", ");
    return this.#mistake(
      kind,
      `in the namespace ${namespace}, of which nothing is kept: it has declared ${reached}. Add ${namespace} to \`namespaces\`, ` +
        "or ask the server with `client`",
    );
  }

  #mistake(kind: KindRef<KubeObject>, what: string): TypeError {
    return new TypeError(`${this.#controller} reads ${groupKindText(kind)} from the cache ${what}`);
  }
}

/** A view that holds everything makes the others needless, and what they say may be older. */
function enough<T extends KubeObject>(
  views: readonly CacheView<T>[],
  namespace: string | undefined,
): readonly CacheView<T>[] {
  if (views.length === 1) return views;
  const whole = views.find((view) => view.holdsAll(namespace));
  return whole ? [whole] : views;
}

function united<T extends KubeObject>(lists: readonly Iterable<T>[]): T[] {
  if (lists.length === 1) return [...lists[0]!];
  const byKey = new Map<ObjectKey, T>();
  for (const list of lists) {
    for (const object of list) {
      const key = keyOf(object);
      const known = byKey.get(key)?.metadata.resourceVersion;
      if (compareVersions(object.metadata.resourceVersion, known) > 0) byKey.set(key, object);
    }
  }
  return [...byKey.values()];
}
