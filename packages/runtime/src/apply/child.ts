import type { DeepPartial } from "@konverge/client";
import {
  groupKindText,
  isObject,
  type KindRef,
  type KubeObject,
  type MadeByKind,
  parseApiVersion,
} from "@konverge/core";
import { PermanentError } from "../errors.ts";

/**
 * A child as a reconciler returns it: the fields that the controller sets. It comes from `draft` or `new` of its kind,
 * or is an observed child. `T` is the type of the object.
 */
export interface Child<T extends KubeObject = KubeObject> extends KubeObject, MadeByKind<T> {
  // Known here, so that a literal that has them is refused for what it lacks.
  readonly spec?: unknown;
  readonly data?: unknown;
  readonly status?: unknown;
}

/** A child as it is now. */
export type ObservedChild<T extends KubeObject> = T & MadeByKind<T>;

/**
 * What to do when the server rejects a change of an immutable field of a child:
 * - `report`: report it in the conditions and leave the child as it is;
 * - `recreate`: delete the child with all that it owns, and create it again;
 * - `orphan`: delete the child alone, leaving what it owns (the pods of a StatefulSet) to the new one.
 */
export type ImmutableFieldPolicy = "report" | "recreate" | "orphan";

export interface PlannedChildOptions<T extends KubeObject = KubeObject> {
  /** Apply it only when these are ready. */
  after?: readonly Child[];
  /** When it is ready. Default: depends on its kind, as for `kubectl rollout status` and kstatus. */
  readyWhen?: (child: T) => boolean;
  onImmutable?: ImmutableFieldPolicy;
  /**
   * What to do when the API server refuses the child, because of a quota, an admission webhook or its validation:
   * - `fail`, the default: the reconcile fails, and the message is in the object's conditions;
   * - `report`: the reconcile goes on. The refusal is given to the result's `report`, or else makes the object Degraded, and the
   *   child is tried again.
   */
  onRefused?: "fail" | "report";
  /**
   * Leave the child as it is: it is neither changed, nor deleted, nor created. For a child of which the desired state is not known
   * in this reconcile, because of what it depends on. Only its name and namespace count. Default: false.
   */
  unchanged?: boolean;
  /**
   * Fields that are set only when the child is created, such as the replicas of a Deployment that an autoscaler changes later.
   * Objects only, no lists: `{ spec: { replicas: 3 } }`.
   */
  initially?: DeepPartial<T>;
}

/** A child with options, see {@link plannedChild}. */
export interface PlannedChild {
  readonly draft: Child;
  readonly options: PlannedChildOptions;
}

/** A child with options, such as children that it waits for: `plannedChild(server, { after: [migration] })`. */
export function plannedChild<T extends KubeObject>(draft: Child<T>, options: PlannedChildOptions<T>): PlannedChild {
  return { draft, options: options as unknown as PlannedChildOptions };
}

/** `position`: among the children that a reconciler returned, whose types have not been checked. */
export function planned(given: Child | PlannedChild, position: number): PlannedChild {
  const one = (isObject(given) && "draft" in given ? given : { draft: given, options: {} }) as PlannedChild;
  const draft: unknown = one.draft;
  if (isObject(draft) && typeof draft["apiVersion"] === "string" && typeof draft["kind"] === "string") {
    if (isObject(draft["metadata"])) return one;
  }
  const what =
    typeof draft === "object" && draft !== null ? "has no apiVersion, kind or metadata" : `is ${String(draft)}`;
  throw new PermanentError(
    "InvalidChild",
    `children[${position}] ${what}: create children with Kind.draft({ metadata, spec })`,
  );
}

/** `Deployment.apps default/web`, in which no two children are equal. */
export function nameOf(draft: KubeObject, owner: KubeObject): string {
  const { group } = parseApiVersion(draft.apiVersion);
  const namespace = draft.metadata.namespace ?? owner.metadata.namespace ?? "";
  return `${groupKindText({ group, kind: draft.kind })} ${namespace}/${draft.metadata.name}`;
}

/**
 * The children in the order in which they are to be applied: waves, of which each needs only earlier ones. Throws if two
 * have the same name, if one waits for what is not a child, or if they wait for each other.
 */
export function waves(children: readonly PlannedChild[], owner: KubeObject): PlannedChild[][] {
  const byName = new Map<string, PlannedChild>();
  for (const one of children) {
    const name = nameOf(one.draft, owner);
    if (!one.draft.metadata.name)
      throw new PermanentError("InvalidChild", `a child of kind ${one.draft.kind} has no name`);
    if (byName.has(name)) throw new PermanentError("InvalidChild", `two children are called ${name}`);
    byName.set(name, one);
  }
  const result: PlannedChild[][] = [];
  const placed = new Set<string>();
  let rest = [...byName];
  while (rest.length > 0) {
    const isFree = ([name, one]: [string, PlannedChild]) =>
      (one.options.after ?? []).every((other) => {
        const needed = nameOf(other, owner);
        if (!byName.has(needed)) {
          throw new PermanentError("InvalidChild", `${name} waits for ${needed}, which is not among the children`);
        }
        return placed.has(needed);
      });
    const wave = rest.filter(isFree);
    if (wave.length === 0) {
      const names = rest.map(([name]) => name).join(", ");
      throw new PermanentError("InvalidChild", `these children wait for each other: ${names}`);
    }
    rest = rest.filter((entry) => !wave.includes(entry));
    for (const [name] of wave) placed.add(name);
    result.push(wave.map(([, one]) => one));
  }
  return result;
}

/** A kind of children and how they are owned. */
export interface OwnedKind {
  readonly kind: KindRef<KubeObject>;
  /**
   * How a child refers to its owner:
   * - `reference`: an owner reference. The garbage collector deletes the child with its owner, which must be in the
   *   same namespace or cluster-scoped;
   * - `label`: a label with the owner's UID, for children that an owner reference cannot reach. They are deleted before
   *   the owner, which gets a finalizer for that.
   */
  readonly by?: "reference" | "label";
  /**
   * Whether an object of the right name that has no owner becomes a child: only if this controller applied it before
   * (`former`, the default), or in any case (`any`).
   */
  readonly adopt?: "former" | "any";
  /**
   * Field managers of an operator that this one replaces. Their fields of a child become this controller's at its first
   * reconcile, so that fields that it does not return are removed. See `adoptFields`.
   */
  readonly from?: readonly string[];
  readonly onImmutable?: ImmutableFieldPolicy;
  /**
   * The kind need not be installed, such as `HTTPRoute` of the Gateway API. It is watched while its
   * CustomResourceDefinition is there; until then children of this kind are left out, and count neither as ready nor as
   * missing. When it begins or ceases to be served, all objects are reconciled; `context.isServed` returns which it is.
   */
  readonly optional?: boolean;
  /**
   * Children of this kind are created and deleted, but never changed, such as Jobs and pods. They may have a `generateName`
   * instead of a name: there will be as many as are returned with the same one. All objects of the kind that the owner
   * controls count as its children.
   */
  readonly createOnly?: boolean;
  /**
   * How a child that is no longer returned is deleted: at once, with what it owns after it (`background`, the default), or
   * after all that it owns (`foreground`), such as a Job whose pods must be gone before one of the same name is created.
   */
  readonly deletion?: "background" | "foreground";
  /** Watch only children with these labels, which all drafts must have. */
  readonly labelSelector?: string;
}

/** A kind of children with options: `ownedKind(ClusterRole, { by: "label" })`. */
export function ownedKind(kind: KindRef<KubeObject>, options: Omit<OwnedKind, "kind">): OwnedKind {
  return { kind, ...options };
}
