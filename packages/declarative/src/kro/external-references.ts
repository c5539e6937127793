import { groupKindText, type KindRef, type KubeObject, keyOf, type ObjectKey } from "@konverge/core";
import type { Graph, GraphNode } from "./graph.ts";
import type { Existing } from "./resolve-graph.ts";

/**
 * Which instances have read which objects that others make, so that a change of these reconciles them. A process that starts
 * reconciles all instances, and so learns it again.
 */
export class ExternalReferences {
  readonly #readers = new Map<string, Set<ObjectKey>>();

  /** The same reads, of which it remembers who has made them. */
  noting(existing: Existing, instance: KubeObject): Existing {
    const note = (node: GraphNode, key: string) => {
      const what = `${groupKindText(node.kind)} ${key}`;
      const readers = this.#readers.get(what);
      if (readers) readers.add(keyOf(instance));
      else this.#readers.set(what, new Set([keyOf(instance)]));
    };
    return {
      own: (node) => existing.own(node),
      external(node, name, namespace) {
        note(node, namespace ? `${namespace}/${name}` : name);
        return existing.external(node, name, namespace);
      },
      externals(node, namespace) {
        note(node, ANY);
        return existing.externals(node, namespace);
      },
    };
  }

  /** The instances that have read an object, or all objects of its kind. */
  readersOf(kind: KindRef<KubeObject>, object: KubeObject): ObjectKey[] {
    const what = groupKindText(kind);
    return [keyOf(object), ANY].flatMap((key) => [...(this.#readers.get(`${what} ${key}`) ?? [])]);
  }

  /** An instance is deleted. */
  forget(instance: ObjectKey): void {
    for (const readers of this.#readers.values()) readers.delete(instance);
  }
}

const ANY = "*";

/** The kinds of a graph's objects: those that it makes, and those that it reads. */
export function kindsIn(graph: Graph): { made: KindRef<KubeObject>[]; read: KindRef<KubeObject>[] } {
  const of = (isExternal: boolean) => {
    const kinds = graph.nodes.filter(({ type }) => type.startsWith("external") === isExternal).map(({ kind }) => kind);
    return [...new Map(kinds.map((kind) => [groupKindText(kind), kind])).values()];
  };
  return { made: of(false), read: of(true) };
}
