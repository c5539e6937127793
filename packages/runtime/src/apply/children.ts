import type { Client } from "@konverge/client";
import {
  type AnyObject,
  type Clock,
  type FieldsV1,
  groupKindText,
  isConflict,
  isForbidden,
  isNotFound,
  type KindRef,
  type KubeObject,
  keyOf,
  matchesLabels,
  type ObjectKey,
  type ObjectMeta,
  parseApiVersion,
  parseLabelSelector,
  type Schema,
} from "@konverge/core";
import { fieldsOf } from "../cache/field-set-pool.ts";
import type { CacheView } from "../cache/view.ts";
import { type Applied, AppliedState } from "../comparison/applied-state.ts";
import { ExternalError, PermanentError } from "../errors.ts";
import { inParallel } from "../in-parallel.ts";
import { adoptFields } from "../takeover/take-over.ts";
import type { Bond } from "./bond.ts";
import { type Child, nameOf, type OwnedKind, type PlannedChild, planned, waves } from "./child.ts";
import { type ChildState, isReady, readinessOfChild, waiting } from "./child-state.ts";
import { claim, FOREIGN_CHILD_RETRY } from "./claim.ts";
import { draftOf, ownedFieldsOf } from "./draft.ts";
import { existing } from "./existing.ts";
import { isImmutable } from "./immutable.ts";
import { stillInitial, withInitial } from "./initially.ts";
import { withoutLeftOver } from "./left-over.ts";
import { reclaim } from "./reclaim.ts";
import { type Doomed, nextToGo, rememberAfter } from "./removal-order.ts";
import { renamedItems } from "./renamed-items.ts";
import { OwnerGoneError, VanishedChildren } from "./vanished-children.ts";

/** A declared kind of children, and the objects there are of it. */
export interface OwnedView {
  readonly declared: OwnedKind;
  readonly view: CacheView<KubeObject>;
  readonly bond: Bond;
  readonly schema: Schema | undefined;
}

/** The index under which views of owned kinds find children: the uid of their owner. */
export const BY_OWNER = "konverge/owner";

/** The same children applied at the same time. */
const PARALLEL = 8;
/** No object ever has this version, so that an apply with it can only create. */
const NEVER = "1";
/** Milliseconds until it is tried again what a tenant is not allowed to do. */
const REFUSED_RETRY = 30_000;

export interface ChildrenOptions {
  manager: string;
  ownerKind: KindRef<KubeObject>;
  owners: CacheView<KubeObject>;
  owned: readonly OwnedView[];
  clock: Clock;
}

/** What a reconcile does to children it does with this. */
export interface ChildrenScope {
  owner: KubeObject;
  /** Reads. */
  client: Client;
  /** Writes: as the controller itself or as the tenant that owns the object. */
  writer: Client;
  /** The tenant, if it is one. */
  tenant: string | undefined;
  /** Called with the children that exist. */
  seen?: (kind: KindRef<KubeObject>, key: ObjectKey, object: KubeObject | undefined) => void;
  /** Called with what was done, to report it to users. */
  report: (reason: string, message: string) => void;
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

  constructor(options: ChildrenOptions) {
    this.#options = options;
    this.#owned = new Map(options.owned.map((owned) => [groupKindText(owned.declared.kind), owned]));
    this.#vanished = new VanishedChildren(options.manager, options.owners, options.owned);
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

  /** Makes the owner's children these and no others. Resolves to where each of them is. */
  async converge(given: readonly (Child | PlannedChild)[], pass: ChildrenScope): Promise<ChildState[]> {
    const plan = waves(given.map(planned), pass.owner);
    const states = new Map<string, ChildState>();
    const failures: unknown[] = [];
    for (const wave of plan) {
      await inParallel(wave, PARALLEL, async (one) => {
        const name = nameOf(one.draft, pass.owner);
        try {
          states.set(name, await this.#ensure(name, one, states, pass));
        } catch (error) {
          failures.push(error);
        }
      });
    }
    if (failures.length > 0) throw worst(failures);
    const wanted = [...states.values()];
    await this.#prune(wanted, pass);
    return wanted;
  }

  /**
   * Removes children for an owner that goes: those that only a label holds, or all of them. Resolves to the names of those
   * still there.
   */
  async release(pass: ChildrenScope, which: "labelled" | "all"): Promise<string[]> {
    const isLeaving = ({ declared }: OwnedView) => which === "all" || declared.by === "label";
    const leaving = this.#existing(pass.owner).filter(({ owned }) => isLeaving(owned));
    await this.#remove(leaving, pass);
    return leaving
      .filter(({ owned, object }) => owned.view.get(keyOf(object))?.metadata.uid === object.metadata.uid)
      .map(({ name }) => name);
  }

  async #ensure(
    name: string,
    one: PlannedChild,
    states: ReadonlyMap<string, ChildState>,
    pass: ChildrenScope,
  ): Promise<ChildState> {
    const { owner } = pass;
    const { draft, options } = one;
    const owned = this.#ownedOf({ group: parseApiVersion(draft.apiVersion).group, kind: draft.kind });
    const key = childKey(owned, owner, draft.metadata.namespace, draft.metadata.name!);
    const namespace = owned.declared.kind.namespaced
      ? (draft.metadata.namespace ?? owner.metadata.namespace)
      : undefined;
    owned.bond.check(owner, { kind: owned.declared.kind, name: draft.metadata.name!, namespace });
    const state = (object: KubeObject | undefined, readiness = object && this.#readiness(one, object)) =>
      ({ name, key, planned: one, object, readiness: readiness ?? waiting("NotFound", "it does not exist") }) as const;

    pass.seen?.(owned.declared.kind, key, owned.view.get(key));
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
      // Its deletion is an event of its owner; if that is another object, it must be watched.
      if (owned.bond.ownerKey(live) === keyOf(owner)) return state(live, readiness);
      throw new ExternalError("ChildTerminating", `${name} is still being deleted`, {
        requeueAfter: FOREIGN_CHILD_RETRY,
      });
    }
    const { ownerKind, manager } = this.#options;
    const applied = () => fieldsOf(owned.view.own(key), manager) ?? appliedBy(manager, live);
    const former = applied() !== undefined;
    await claim({ name, live, ...owned, owner, ownerKind, manager, former }, pass.client);
    const { from } = owned.declared;
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
    pass: ChildrenScope,
  ): Promise<{ created: KubeObject } | { found: KubeObject | undefined }> {
    const { kind } = owned.declared;
    const metadata = { ...desired.metadata, resourceVersion: NEVER };
    await this.#vanished.checkOwner(pass.owner, () =>
      existing(pass.client, this.#options.ownerKind, keyOf(pass.owner)),
    );
    try {
      const answer = await this.#send(kind, { ...desired, metadata }, pass);
      this.#remember(owned, { name: nameOf(desired, pass.owner), key, desired }, answer);
      return { created: answer };
    } catch (error) {
      if (!isConflict(error)) throw error;
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
    await this.#delete(owned, live, pass, policy === "orphan" ? "Orphan" : "Foreground");
    pass.report("Recreating", `${name} is recreated: an immutable field has changed`);
    return undefined;
  }

  async #prune(wanted: readonly ChildState[], pass: ChildrenScope): Promise<void> {
    const { manager } = this.#options;
    const isDoomed = ({ declared, view }: OwnedView, key: ObjectKey) =>
      !wanted.some((one) => one.key === key && isOfKind(one.planned.draft, declared.kind)) &&
      fieldsOf(view.own(key), manager) !== undefined;
    const doomed = this.#existing(pass.owner, isDoomed);
    if (doomed.length > 0) await this.#remove(doomed, pass);
  }

  /** The children there are, of all kinds; of those that are not meant nothing is read. */
  #existing(owner: KubeObject, isMeant: (owned: OwnedView, key: ObjectKey) => boolean = () => true): ExistingChild[] {
    const existing: ExistingChild[] = [];
    for (const owned of this.#owned.values()) {
      const keys = [...owned.view.find(BY_OWNER, owner.metadata.uid!)].filter((key) => isMeant(owned, key)).sort();
      for (const key of keys) {
        const object = owned.view.get(key)!;
        existing.push({ owned, object, name: nameOf(object, owner) });
      }
    }
    return existing;
  }

  /** Removes those of the children whose turn it is. The others follow when these are gone, of which there is an event. */
  async #remove(doomed: readonly ExistingChild[], pass: ChildrenScope): Promise<void> {
    for (const { doomed: one, awaited } of nextToGo(doomed)) {
      // What others wait for is gone only when all that it owns is.
      await this.#delete(one.owned, one.object, pass, awaited ? "Foreground" : "Background");
      this.#applied.forget(one.name);
    }
  }

  /** Deletes exactly this object in this state: a client that has changed it since may have had a reason. */
  async #delete(
    owned: OwnedView,
    { metadata, ...child }: KubeObject,
    pass: ChildrenScope,
    propagationPolicy: "Background" | "Foreground" | "Orphan",
  ): Promise<void> {
    const { uid, resourceVersion } = metadata;
    const key = keyOf({ ...child, metadata });
    try {
      await pass.writer.delete(owned.declared.kind, key, {
        preconditions: { uid, resourceVersion },
        propagationPolicy,
      });
    } catch (error) {
      if (!isNotFound(error)) throw refusal(error, `${groupKindText(owned.declared.kind)} ${key}`, pass);
    }
  }

  async #send(kind: KindRef<KubeObject>, desired: KubeObject, pass: ChildrenScope): Promise<KubeObject> {
    const options = { fieldManager: this.#options.manager, force: true };
    try {
      return await pass.writer.apply(kind as KindRef<AnyObject>, desired as AnyObject, options);
    } catch (error) {
      throw refusal(error, nameOf(desired, pass.owner), pass);
    }
  }

  #ownedOf(kind: GroupKind): OwnedView {
    const owned = this.#owned.get(groupKindText(kind));
    if (owned) return owned;
    throw new PermanentError(
      "UndeclaredChild",
      `the controller of ${this.#options.ownerKind.kind} uses ${groupKindText(kind)}, which is not in \`owns\`: ` +
        "add it to `owns`",
    );
  }
}

interface ExistingChild extends Doomed {
  owned: OwnedView;
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

function isOfKind({ apiVersion, kind }: KubeObject, declared: GroupKind): boolean {
  return kind === declared.kind && parseApiVersion(apiVersion).group === declared.group;
}

/** A tenant's missing right is the tenant's to get, at any time, and no event will tell when. */
function refusal(error: unknown, name: string, { tenant }: ChildrenScope): unknown {
  if (tenant === undefined || !isForbidden(error)) return error;
  const message = `${name} cannot be written as ${tenant}: ${(error as Error).message}. Allow it to ${tenant}`;
  return new ExternalError("Forbidden", message, { cause: error, requeueAfter: REFUSED_RETRY });
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
