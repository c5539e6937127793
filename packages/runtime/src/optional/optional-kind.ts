import { gvkOf, isInvalid, type KindRef, type KubeObject, ownerReference, templateHash } from "@konverge/core";
import { CustomResourceDefinition } from "@konverge/kinds";
import { isApplied } from "../apply/is-applied.ts";
import type { CacheReader, ReconcileContext } from "../definition/definition.ts";
import { cacheKind, type WatchedKind } from "../definition/watched.ts";
import { type PermissionDeclaration, permission } from "../rbac/access.ts";

/** Of the spec that was applied last: without it, a field that is no longer set would stay. */
const DIGEST = "konverge.dev/applied-spec";

/**
 * A kind of other software that need not be installed, such as `HTTPRoute` of the Gateway API.
 *
 * Flow: `definition` is among the controller's `watches` and `permission` among its `permissions`; a reconcile returns
 * the other children as usual and calls `keep` for these.
 *
 * Guarantees: objects are owned by the reconciled object and go with it; nothing is written that is as it should be;
 * nothing is requested while the kind is not served. Objects of the same names that another owner has are not touched
 * unless they are wanted.
 *
 * Caveats: the objects are not watched, since a kind that is missing cannot be: changes by others are repaired in the
 * next reconcile.
 */
export interface OptionalKind<T extends KubeObject> {
  readonly kind: KindRef<T>;
  /** Caches whether the kind is installed. */
  readonly definition: WatchedKind;
  readonly permission: PermissionDeclaration;
  /** Whether the version of the kind is served. */
  isServed(cache: CacheReader): boolean;
  /**
   * Applies the wanted objects of `owner` that differ, and deletes those with the labels that are not wanted any more.
   * Returns those that exist, and the server's message if it refuses one as invalid.
   */
  keep(
    owner: KubeObject,
    wanted: readonly T[],
    labels: Readonly<Record<string, string>>,
    context: Pick<ReconcileContext, "cache" | "client">,
  ): Promise<KeptObjects<T>>;
}

/** What {@link OptionalKind.keep} found and could not write. */
export interface KeptObjects<T extends KubeObject> {
  readonly live: readonly T[];
  readonly refusal?: string;
}

/**
 * Lets a controller keep objects of a kind where it is installed.
 *
 * ```ts
 * const routes = optionalKind(HTTPRoute);
 * controller(Widget, {
 *   watches: [routes.definition],
 *   permissions: [routes.permission],
 *   async reconcile(widget, context) {
 *     await routes.keep(widget, [routeFor(widget)], { widget: widget.metadata.name }, context);
 *   },
 * });
 * ```
 */
export function optionalKind<T extends KubeObject>(kind: KindRef<T>): OptionalKind<T> {
  const crd = `${kind.plural}.${kind.group}`;
  const isServed = (cache: CacheReader) =>
    cache
      .get(CustomResourceDefinition, crd)
      ?.spec?.versions?.some(({ name, served }) => name === kind.version && served) ?? false;
  return {
    kind,
    definition: cacheKind<CustomResourceDefinition>(CustomResourceDefinition, {
      fieldSelector: `metadata.name=${crd}`,
    }),
    permission: permission(kind, ["list", "create", "patch", "delete"]),
    isServed,
    async keep(owner, wanted, labels, { cache, client }) {
      if (!isServed(cache)) return { live: [] };
      const { namespace, uid } = owner.metadata;
      const labelSelector = Object.entries(labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(",");
      const { items } = await client.list(kind, { namespace: namespace!, labelSelector });
      const live = items.filter(({ metadata }) => metadata.ownerReferences?.some((one) => one.uid === uid));
      for (const { metadata } of live) {
        const isWanted = wanted.some((draft) => draft.metadata.name === metadata.name);
        if (!isWanted && !metadata.deletionTimestamp) {
          await client.delete(kind, `${namespace}/${metadata.name}`, { preconditions: { uid: metadata.uid! } });
        }
      }
      let refusal: string | undefined;
      for (const draft of wanted.map((one) => ownedBy(owner, one, labels))) {
        const before = live.find(({ metadata }) => metadata.name === draft.metadata.name);
        if (isApplied(kind, draft, before)) continue;
        await client.apply(kind, draft as never, { force: true }).catch((error: unknown) => {
          if (!isInvalid(error)) throw error;
          refusal = (error as Error).message;
        });
      }
      return { live, ...(refusal !== undefined && { refusal }) };
    },
  };
}

function ownedBy<T extends KubeObject>(owner: KubeObject, draft: T, labels: Readonly<Record<string, string>>): T {
  const metadata = {
    ...draft.metadata,
    labels: { ...draft.metadata.labels, ...labels },
    annotations: { ...draft.metadata.annotations, [DIGEST]: templateHash((draft as { spec?: unknown }).spec) },
    ownerReferences: [ownerReference(gvkOf(owner), owner)],
  };
  return { ...draft, metadata };
}
