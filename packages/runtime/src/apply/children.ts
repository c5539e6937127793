import type { NewObject } from "@konverge/client";
import {
  type AnyObject,
  type Clock,
  type FieldsV1,
  groupKindText,
  isAlreadyExists,
  isConflict,
  type KindRef,
  type KubeObject,
  keyOf,
  matchesLabels,
  type ObjectKey,
  type ObjectMeta,
  parseApiVersion,
  parseLabelSelector,
  type Random,
} from "@konverge/core";
import { fieldsOf } from "../cache/field-set-pool.ts";
import type { CacheView } from "../cache/view.ts";
import { type Applied, AppliedState } from "../comparison/applied-state.ts";
import { ExternalError, PermanentError } from "../errors.ts";
import { inBatches } from "../in-batches.ts";
import { inParallel } from "../in-parallel.ts";
import { adoptFields } from "../takeover/take-over.ts";
import { type Child, nameOf, type PlannedChild, planned, waves } from "./child.ts";
import { type ChildState, isReady, readinessOfChild, waiting } from "./child-state.ts";
import { claim, FOREIGN_CHILD_RETRY } from "./claim.ts";
import { keepCreated, withNames } from "./created-child.ts";
import { draftOf, ownedFieldsOf } from "./draft.ts";
import { existing } from "./existing.ts";
import { isImmutable } from "./immutable.ts";
import { stillInitial, withInitial } from "./initially.ts";
import { withoutLeftOver } from "./left-over.ts";
import { CollectedOutcome, isRefusal, refusedCreation } from "./outcome.ts";
import { BY_OWNER, type ChildrenScope, type OwnedView } from "./owned-view.ts";
import { reclaim } from "./reclaim.ts";
import { ChildRemoval, refusal } from "./removal.ts";
import { rememberAfter } from "./removal-order.ts";
import { renamedItems } from "./renamed-items.ts";
import { OwnerGoneError, VanishedChildren } from "./vanished-children.ts";

/** How many children are applied at the same time. */
const PARALLEL = 8;
/** No object ever has this version, so that an apply with it can only create. */
const NEVER = "1";

export interface ChildrenOptions {
  manager: string;
  ownerKind: KindRef<KubeObject>;
  owners: CacheView<KubeObject>;
  owned: readonly OwnedView[];
  clock: Clock;
}

/** The children of an object after they have been applied. */
export interface ConvergedChildren {
  /** Where each of them is; without those of kinds that are not served. */
  readonly states: readonly ChildState[];
  readonly outcome: CollectedOutcome;
}

interface Progress {
  readonly states: Map<string, ChildState>;
  readonly failures: unknown[];
  readonly outcome: CollectedOutcome;
}

interface EnsureScope extends ChildrenScope {
  readonly outcome: CollectedOutcome;
}

/**
 * The children of one controller's objects: what they are, and how they reach their desired state.
 *
 * Guarantees
 * - Nothing is sent for a child in its desired state, also after a restart.
 * - Fields that the draft does not set belong to other managers; fields that it no longer sets are released.
 * - A child that has vanished is created again only after a read of its owner, once for each disappearance.
 * - An object of another owner, or without an owner, is not changed. A child of an earlier object of the same name is
 *   waited for until it is gone.
 * - Only children that this controller applied are pruned, and only after all others have been applied; of those that came
 *   one after the other, the last one first, and the next when it is gone. They are found by their owner, among all declared kinds, so that it does not matter when or by which process they were made.
 *
 * Assumption: all kinds that were ever returned are still declared. A new version that no longer makes a kind of child
 * keeps declaring it for as long as old ones may be around; RBAC, which follows the declaration, would forbid it otherwise.
 */
export class Children {
  readonly #options: ChildrenOptions;
  readonly #owned: ReadonlyMap<string, OwnedView>;
  readonly #applied = new AppliedState();
  readonly #vanished: VanishedChildren;
  readonly #removal: ChildRemoval;

  constructor(options: ChildrenOptions) {
    this.#options = options;
    this.#owned = new Map(options.owned.map((owned) => [groupKindText(owned.declared.kind), owned]));
    this.#vanished = new VanishedChildren(options.manager, options.owners, options.owned);
    this.#removal = new ChildRemoval(options.owned, (name) => this.#applied.forget(name));
  }

  /** Where a child of that kind and name is, or would be. */
  place(owner: KubeObject, kind: GroupKind, name: string, namespace?: string): { owned: OwnedView; key: ObjectKey } {
    const owned = this.#ownedOf(kind);
    return { owned, key: childKey(owned, owner, namespace, name) };
  }

  /** The object in that place, if it is the owner's. */
  observed(owner: KubeObject, { owned, key }: { owned: OwnedView; key: ObjectKey }): KubeObject | undefined {
    const object = owned.view.get(key);
    return object && owned.bond.ownerUid(object) === owner.metadata.uid ? object : undefined;
  }

  /** All children of that kind, in the order of their names. */
  all(owner: KubeObject, kind: GroupKind): KubeObject[] {
    const { view } = this.#ownedOf(kind);
    return [...view.find(BY_OWNER, owner.metadata.uid!)].sort().map((key) => view.get(key)!);
  }

  /** Makes the owner's children these and no others. */
  async converge(given: readonly (Child | PlannedChild)[], pass: ChildrenScope): Promise<ConvergedChildren> {
    const children = withNames(given.map(planned), (draft) => this.#createdBefore(draft, pass.owner), this.#random);
    const progress: Progress = { states: new Map(), failures: [], outcome: new CollectedOutcome() };
    const kept = new Map<OwnedView, Set<ObjectKey>>();
    for (const wave of waves(children, pass.owner)) {
      const missing: PlannedChild[] = [];
      await inParallel(wave, PARALLEL, async (one) => {
        const { name, namespace } = one.draft.metadata;
        const { owned, key } = this.place(pass.owner, groupKindOf(one.draft), name!, namespace);
        if (!kept.get(owned)?.add(key)) kept.set(owned, new Set([key]));
        if (owned.declared.optional && !owned.view.isServed) return;
        if (owned.declared.createOnly && !one.options.unchanged && !owned.view.get(key)) missing.push(one);
        else await this.#attempt(one, progress, pass);
      });
      await this.#createAll(missing, progress, pass);
    }
    const { states, failures, outcome } = progress;
    if (failures.length > 0) throw worst(failures);
    const isUnwanted = (owned: OwnedView, key: ObjectKey) => !kept.get(owned)?.has(key) && this.#isOwn(owned, key);
    const unwanted = this.#removal.existing(pass.owner, isUnwanted);
    if (unwanted.length > 0) outcome.deleted.push(...(await this.#removal.remove(unwanted, pass)));
    return { states: [...states.values()], outcome };
  }

  /**
   * Removes children for an owner that goes: those that only a label holds, or all of them. Resolves to the names of those
   * still there.
   */
  async release(pass: ChildrenScope, which: "labelled" | "all"): Promise<string[]> {
    const isLeaving = ({ declared }: OwnedView) => which === "all" || declared.by === "label";
    const leaving = this.#removal.existing(pass.owner).filter(({ owned }) => isLeaving(owned));
    await this.#removal.remove(leaving, pass);
    return leaving
      .filter(({ owned, object }) => owned.view.get(keyOf(object))?.metadata.uid === object.metadata.uid)
      .map(({ name }) => name);
  }

  get #random(): Random {
    return this.#options.clock.random;
  }

  /** Of a create-only kind: the children from which a draft without a name may get its name. */
  #createdBefore(draft: KubeObject, owner: KubeObject): KubeObject[] | undefined {
    const kind = groupKindOf(draft);
    return this.#ownedOf(kind).declared.createOnly ? this.all(owner, kind) : undefined;
  }

  /** Whether this controller made the child. Of create-only kinds, all children of the owner are the controller's. */
  #isOwn({ declared, view }: OwnedView, key: ObjectKey): boolean {
    return declared.createOnly === true || fieldsOf(view.own(key), this.#options.manager) !== undefined;
  }

  /** Creates children of create-only kinds, until the server refuses one. */
  async #createAll(missing: readonly PlannedChild[], progress: Progress, pass: ChildrenScope): Promise<void> {
    const { failures, outcome, states } = progress;
    const before = failures.length + outcome.refused.length;
    const create = (one: PlannedChild) => this.#attempt(one, progress, pass);
    const isStopped = () => failures.length + outcome.refused.length > before;
    for (const one of await inBatches(missing, PARALLEL, create, isStopped)) {
      const { name, namespace } = one.draft.metadata;
      const { key } = this.place(pass.owner, groupKindOf(one.draft), name!, namespace);
      const readiness = waiting("NotCreated", "it is created when the server accepts the others");
      const label = nameOf(one.draft, pass.owner);
      states.set(label, { name: label, key, planned: one, object: undefined, readiness });
    }
  }

  async #attempt(one: PlannedChild, { states, failures, outcome }: Progress, pass: ChildrenScope): Promise<void> {
    const name = nameOf(one.draft, pass.owner);
    try {
      states.set(name, await this.#ensure(name, one, states, { ...pass, outcome }));
    } catch (error) {
      if (one.options.onRefused !== "report" || !isRefusal(error)) {
        failures.push(this.#ownedOf(groupKindOf(one.draft)).declared.createOnly ? refusedCreation(name, error) : error);
        return;
      }
      outcome.refused.push({ child: one.draft, reason: error.reason, message: error.message, error });
      const { name: id, namespace } = one.draft.metadata;
      const { owned, key } = this.place(pass.owner, groupKindOf(one.draft), id!, namespace);
      const readiness = { status: "Failed", reason: error.reason, message: error.message } as const;
      states.set(name, { name, key, planned: one, object: owned.view.get(key), readiness });
    }
  }

  async #ensure(
    name: string,
    one: PlannedChild,
    states: ReadonlyMap<string, ChildState>,
    pass: EnsureScope,
  ): Promise<ChildState> {
    const { owner } = pass;
    const { draft, options } = one;
    const owned = this.#ownedOf(groupKindOf(draft));
    const key = childKey(owned, owner, draft.metadata.namespace, draft.metadata.name!);
    const namespace = owned.declared.kind.namespaced
      ? (draft.metadata.namespace ?? owner.metadata.namespace)
      : undefined;
    owned.bond.check(owner, { kind: owned.declared.kind, name: draft.metadata.name!, namespace });
    const state = (object: KubeObject | undefined, readiness = object && this.#readiness(one, object)) =>
      ({ name, key, planned: one, object, readiness: readiness ?? waiting("NotFound", "it does not exist") }) as const;

    pass.seen?.(owned.declared.kind, key, owned.view.get(key));
    if (options.unchanged) return state(owned.view.get(key));
    const after = (options.after ?? []).map((other) => nameOf(other, owner));
    const missing = after.filter((other) => !states.has(other) || !isReady(states.get(other)!));
    if (missing.length > 0) {
      return state(owned.view.get(key), waiting("WaitingForOthers", `it is waiting for ${missing.join(", ")}`));
    }
    this.#checkLabels(name, owned, draft);
    const place = { namespace, bond: withAnnotations(owned.bond.metadata(owner), rememberAfter(after)) };
    let live = owned.view.get(key);
    if (live === undefined) {
      const made = await this.#create(owned, key, draftOf(withInitial(draft, options.initially), place), pass);
      if ("created" in made) return state(made.created);
      // Without the labels that children are watched by, it is there all the same.
      live = owned.view.get(key) ?? made.found;
    }
    if (!live)
      throw new ExternalError("ChildUnsettled", `${name} is repeatedly created and deleted`, { requeueAfter: 1000 });
    if (live.metadata.deletionTimestamp) {
      const readiness = waiting("Terminating", "it is still being deleted");
      // Its deletion is an event of its owner, unless that is another object or its labels are not watched.
      if (owned.view.get(key) && owned.bond.ownerKey(live) === keyOf(owner)) return state(live, readiness);
      throw new ExternalError("ChildTerminating", `${name} is still being deleted`, {
        requeueAfter: FOREIGN_CHILD_RETRY,
      });
    }
    const { ownerKind, manager } = this.#options;
    const applied = () => fieldsOf(owned.view.own(key), manager) ?? appliedBy(manager, live);
    const former = applied() !== undefined;
    await claim({ name, live, ...owned, owner, ownerKind, manager, former }, pass.client);
    const { from, createOnly } = owned.declared;
    if (createOnly) {
      const found = { name, key, object: live, isWatched: owned.view.get(key) !== undefined, owner };
      return state(await keepCreated(owned.declared, owned.bond, found, pass.writer));
    }
    if (from && !former) await adoptFields(pass.writer, owned.declared.kind, key, { from, to: manager });
    const initial = options.initially && stillInitial(options.initially, applied(), live);
    const desired = draftOf(withInitial(draft, initial), place);
    const known = owned.view.get(key) ?? live;
    const result = await this.#update(
      owned,
      { name, key, live: known, desired, one, exact: initial !== undefined },
      pass,
    );
    return state(result, result === undefined ? waiting("Recreating", "it is being replaced") : undefined);
  }

  /** A child without the labels that its kind is watched by would never be seen again. */
  #checkLabels(name: string, { declared: { kind, labelSelector } }: OwnedView, { metadata }: KubeObject): void {
    if (labelSelector === undefined || matchesLabels(parseLabelSelector(labelSelector), metadata.labels)) return;
    throw new PermanentError(
      "InvalidChild",
      `${name} does not have the labels by which its kind is watched: add those of ownedKind(${kind.kind}, ` +
        `{ labelSelector: ${JSON.stringify(labelSelector)} }), or omit the selector`,
    );
  }

  #readiness(one: PlannedChild, object: KubeObject) {
    return readinessOfChild(one, object, this.#options.clock.now());
  }

  /** Creates the child, or finds the one that is there already and that the cache did not know. */
  async #create(
    owned: OwnedView,
    key: ObjectKey,
    desired: KubeObject,
    pass: EnsureScope,
  ): Promise<{ created: KubeObject } | { found: KubeObject | undefined }> {
    const { kind, createOnly } = owned.declared;
    const metadata = { ...desired.metadata, resourceVersion: NEVER };
    await this.#vanished.checkOwner(pass.owner, () =>
      existing(pass.client, this.#options.ownerKind, keyOf(pass.owner)),
    );
    try {
      const answer = await (createOnly
        ? this.#post(kind, desired, pass)
        : this.#send(kind, { ...desired, metadata }, pass));
      if (!createOnly) this.#remember(owned, { name: nameOf(desired, pass.owner), key, desired }, answer);
      pass.outcome.created.push(answer);
      return { created: answer };
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    }
    return { found: await existing(pass.client, kind, key) };
  }

  /** Applies the draft to the child. Undefined if the child had to be deleted for it. */
  async #update(owned: OwnedView, child: ChildToUpdate, pass: ChildrenScope): Promise<KubeObject | undefined> {
    const { desired, exact } = child;
    if (this.#isUpToDate(owned, child)) return child.live;
    const { uid, resourceVersion } = (await this.#reclaimed(owned, child, pass)).metadata;
    const metadata = { ...desired.metadata, uid, ...(exact && { resourceVersion }) };
    let answer: KubeObject;
    try {
      answer = await this.#send(owned.declared.kind, { ...desired, metadata }, pass);
    } catch (error) {
      if (isImmutable(error)) return await this.#replace(owned, child, error, pass);
      const patch = withoutLeftOver(error, ownedFieldsOf(desired), child.live);
      if (!patch) throw error;
      const { kind } = owned.declared;
      const still = { uid, ...(exact && { resourceVersion }) };
      const mended = await pass.writer.patch(kind, child.key, { merge: { ...patch, metadata: still } as never });
      const now = { uid, ...(exact && { resourceVersion: mended.metadata.resourceVersion }) };
      answer = await this.#send(kind, { ...desired, metadata: { ...desired.metadata, ...now } }, pass);
    }
    this.#remember(owned, child, answer);
    return answer;
  }

  /** The child, in which renamed items are owned by this controller again, so that the next apply removes them. */
  async #reclaimed({ declared, schema }: OwnedView, { key, live, desired }: ChildToUpdate, pass: ChildrenScope) {
    const places = renamedItems(ownedFieldsOf(desired), live, schema);
    if (places.length === 0) return live;
    const { manager } = this.#options;
    return (await reclaim(pass.writer, declared.kind, key, { places, manager })) ?? live;
  }

  #remember(
    owned: OwnedView,
    { name, key, desired }: Pick<ChildToUpdate, "name" | "key" | "desired">,
    answer: KubeObject,
  ): void {
    this.#applied.answered(name, this.#appliedTo(answer, owned, { key, desired }));
  }

  #isUpToDate(owned: OwnedView, { name, key, live, desired }: ChildToUpdate): boolean {
    if (owned.bond.ownerUid(live) === undefined) return false;
    const applied = this.#appliedTo(live, owned, { key, desired });
    return applied !== undefined && this.#applied.isUpToDate(name, applied);
  }

  /** Undefined if we own nothing of the child. */
  #appliedTo(
    live: KubeObject,
    { view, schema }: OwnedView,
    { key, desired }: Pick<ChildToUpdate, "key" | "desired">,
  ): Applied | undefined {
    const fields = fieldsOf(view.own(key), this.#options.manager);
    return fields && { sent: desired, desired: ownedFieldsOf(desired), live, fields, schema };
  }

  async #replace(
    owned: OwnedView,
    { name, live, one }: ChildToUpdate,
    error: Error,
    pass: ChildrenScope,
  ): Promise<undefined> {
    const policy = one.options.onImmutable ?? owned.declared.onImmutable ?? "report";
    if (policy === "report") {
      throw new PermanentError(
        "ImmutableField",
        `${name} cannot be updated: ${error.message}. Delete it so that it is recreated, or set onImmutable`,
        { cause: error },
      );
    }
    await this.#removal.delete(owned, live, pass, policy === "orphan" ? "Orphan" : "Foreground");
    pass.report("Recreating", `${name} is recreated: an immutable field has changed`);
    return undefined;
  }

  async #send(kind: KindRef<KubeObject>, desired: KubeObject, pass: ChildrenScope): Promise<KubeObject> {
    const options = { fieldManager: this.#options.manager, force: true };
    try {
      return await pass.writer.apply(kind as KindRef<AnyObject>, desired as AnyObject, options);
    } catch (error) {
      throw refusal(error, nameOf(desired, pass.owner), pass);
    }
  }

  /** Creates a child that is never changed: the role needs no permission to patch its kind. */
  async #post(kind: KindRef<KubeObject>, desired: KubeObject, pass: EnsureScope): Promise<KubeObject> {
    try {
      return await pass.writer.create(kind, desired as NewObject<KubeObject>);
    } catch (error) {
      throw refusal(error, nameOf(desired, pass.owner), pass);
    }
  }

  #ownedOf(kind: GroupKind): OwnedView {
    const owned = this.#owned.get(groupKindText(kind));
    if (owned) return owned;
    throw new PermanentError(
      "UndeclaredChild",
      `the controller of ${this.#options.ownerKind.kind} uses ${groupKindText(kind)}, which is not in owns: add it to owns`,
    );
  }
}

interface ChildToUpdate {
  name: string;
  key: ObjectKey;
  live: KubeObject;
  desired: KubeObject;
  one: PlannedChild;
  /** Only if it has not been written since: it repeats values that other clients own. */
  exact: boolean;
}

/** What a manager has applied to an object that comes straight from the server. */
function appliedBy(manager: string, { metadata }: KubeObject): FieldsV1 | undefined {
  return metadata.managedFields?.find((entry) => {
    return entry.manager === manager && entry.operation === "Apply" && !entry.subresource;
  })?.fieldsV1;
}

function withAnnotations(metadata: Partial<ObjectMeta>, { annotations }: Partial<ObjectMeta>): Partial<ObjectMeta> {
  return annotations ? { ...metadata, annotations: { ...metadata.annotations, ...annotations } } : metadata;
}

type GroupKind = { group: string; kind: string };

const groupKindOf = ({ apiVersion, kind }: KubeObject): GroupKind => ({
  group: parseApiVersion(apiVersion).group,
  kind,
});

function childKey({ declared }: OwnedView, owner: KubeObject, namespace: string | undefined, name: string): ObjectKey {
  return declared.kind.namespaced ? `${namespace ?? owner.metadata.namespace}/${name}` : name;
}

/** Of several failures the one that says most: what will not pass by itself. */
function worst(failures: readonly unknown[]): unknown {
  return (
    failures.find((error) => error instanceof OwnerGoneError) ??
    failures.find((error) => error instanceof PermanentError) ??
    failures.find((error) => !isConflict(error)) ??
    failures[0]
  );
}
