import type { Client } from "@konverge/client";
import {
  type AnyObject,
  groupKindText,
  isNotFound,
  type KindRef,
  type KubeObject,
  keyOf,
  type ObjectKey,
  type ObjectMeta,
} from "@konverge/core";
import type { Informer } from "../cache/informer.ts";
import { PermanentError } from "../controller/errors.ts";
import { isApplied } from "./is-applied.ts";
import { checkOwnable, controllerOf, ownerReference } from "./ownership.ts";

/** A child as a reconciler states it: what it shall be, as far as the controller cares. */
export interface Child {
  apiVersion: string;
  kind: string;
  metadata: Partial<ObjectMeta>;
}

/** The index under which informers of owned kinds find children: the uid of their controller. */
export const BY_CONTROLLER = "konverge/controller";

export function indexByController(object: KubeObject): readonly string[] {
  const uid = controllerOf(object)?.uid;
  return uid === undefined ? [] : [uid];
}

/** The children of one controller's objects: reading them, and making them what they shall be. */
export class Children {
  readonly #client: Client;
  readonly #manager: string;
  readonly #ownerKind: KindRef<KubeObject>;
  readonly #informers: ReadonlyMap<string, Informer<KubeObject>>;

  constructor(options: {
    client: Client;
    manager: string;
    ownerKind: KindRef<KubeObject>;
    owned: readonly Informer<KubeObject>[];
  }) {
    this.#client = options.client;
    this.#manager = options.manager;
    this.#ownerKind = options.ownerKind;
    this.#informers = new Map(options.owned.map((informer) => [groupKindText(informer.kind), informer]));
  }

  /** The child of that kind and name, if it is the owner's. */
  observed(owner: KubeObject, kind: { group: string; kind: string }, name: string): KubeObject | undefined {
    const informer = this.#informer(kind);
    const child = informer.get(childKey(informer.kind, owner, undefined, name));
    return child && controllerOf(child)?.uid === owner.metadata.uid ? child : undefined;
  }

  /** All children of that kind. */
  all(owner: KubeObject, kind: { group: string; kind: string }): KubeObject[] {
    return this.#informer(kind).find(BY_CONTROLLER, owner.metadata.uid!);
  }

  /** Makes the owner's children these and no others. */
  async converge(owner: KubeObject, desired: readonly Child[], signal: AbortSignal): Promise<void> {
    const wanted = new Set<string>();
    for (const child of desired) {
      const [group = "", kind] = child.apiVersion.includes("/")
        ? [child.apiVersion.split("/")[0], child.kind]
        : ["", child.kind];
      const informer = this.#informer({ group, kind: kind! });
      const { name } = child.metadata;
      if (!name) throw new PermanentError("InvalidChild", `a child of kind ${child.kind} has no metadata.name`);
      const key = childKey(informer.kind, owner, child.metadata.namespace, name);
      wanted.add(`${groupKindText(informer.kind)} ${key}`);
      await this.#apply(owner, informer, key, child, signal);
    }
    for (const informer of this.#informers.values()) {
      for (const child of informer.find(BY_CONTROLLER, owner.metadata.uid!)) {
        if (wanted.has(`${groupKindText(informer.kind)} ${keyOf(child)}`) || child.metadata.deletionTimestamp) continue;
        await this.#prune(informer.kind, child, signal);
      }
    }
  }

  async #apply(
    owner: KubeObject,
    informer: Informer<KubeObject>,
    key: ObjectKey,
    child: Child,
    signal: AbortSignal,
  ): Promise<void> {
    const { kind } = informer;
    const namespace = key.includes("/") ? key.slice(0, key.indexOf("/")) : undefined;
    checkOwnable(owner, this.#ownerKind, { kind, namespace, name: child.metadata.name! });
    const live = informer.get(key);
    const reference = ownerReference(this.#ownerKind, owner);
    const desired = {
      ...child,
      metadata: { ...child.metadata, ...(namespace && { namespace }), ownerReferences: [reference] },
    };
    if (live) {
      const controller = controllerOf(live);
      if (controller && controller.uid !== reference.uid) {
        throw new PermanentError(
          "ChildOfAnother",
          `${kind.kind} ${key} belongs to ${controller.kind} ${controller.name} and cannot become a child of ` +
            `${this.#ownerKind.kind} ${keyOf(owner)}: choose another name or delete it`,
        );
      }
      const fields = informer.ownFields(key, this.#manager)?.object;
      if (fields && isApplied(fields, stripped(desired), live)) return;
    }
    await this.#client.apply(kind as KindRef<AnyObject>, desired as AnyObject, {
      fieldManager: this.#manager,
      force: true,
      signal,
    });
  }

  async #prune(kind: KindRef<KubeObject>, child: KubeObject, signal: AbortSignal): Promise<void> {
    const { uid } = child.metadata;
    try {
      await this.#client.delete(kind, keyOf(child), {
        preconditions: { uid },
        propagationPolicy: "Background",
        signal,
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #informer(kind: { group: string; kind: string }): Informer<KubeObject> {
    const informer = this.#informers.get(groupKindText(kind));
    if (informer) return informer;
    throw new PermanentError(
      "UndeclaredChild",
      `the controller of ${this.#ownerKind.kind} deals with ${groupKindText(kind)}, which \`owns\` does not list: add it there`,
    );
  }
}

function childKey(
  kind: KindRef<KubeObject>,
  owner: KubeObject,
  namespace: string | undefined,
  name: string,
): ObjectKey {
  if (!kind.namespaced) return name;
  return `${namespace ?? owner.metadata.namespace}/${name}`;
}

/** What of an applied object the server counts as owned fields: all but what says which object it is. */
function stripped(child: Child): object {
  const { apiVersion: _a, kind: _k, metadata, ...rest } = child;
  const { name: _n, namespace: _ns, ...owned } = metadata;
  return { ...rest, metadata: owned };
}
