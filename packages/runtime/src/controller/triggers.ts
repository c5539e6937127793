import { deepEqual, type FieldsV1, type KubeObject, type ObjectKey, type Schema } from "@konverge/core";
import type { OwnedView } from "../apply/owned-view.ts";
import type { CacheChange } from "../cache/change.ts";
import { fieldsOf, type OwnFields } from "../cache/field-set-pool.ts";
import type { CacheView } from "../cache/view.ts";
import { unownedPart } from "../comparison/owned-part.ts";
import type { Controller } from "../definition/definition.ts";
import type { WatchedKind } from "../definition/watched.ts";
import type { ReconcileTrigger } from "../observe/observer.ts";
import type { QueuePriority } from "../queue/work-queue.ts";
import { statusSchemaOf } from "../schema-of.ts";
import { isWish } from "./wishes.ts";

export interface TriggerOptions {
  definition: Controller;
  view: CacheView<KubeObject>;
  owned: readonly OwnedView[];
  watched: readonly { declared: WatchedKind; view: CacheView<KubeObject> }[];
  add: (key: ObjectKey, priority: QueuePriority, trigger: ReconcileTrigger) => void;
  /** Whether a reconcile of that key is in progress whose result depends on the object alone. */
  isSelfContained: (key: ObjectKey) => boolean;
  /** A function of the controller's threw: the change cannot be followed up. */
  onError: (error: unknown, trigger: ReconcileTrigger) => void;
}

/**
 * Turns changes in the cache into keys to reconcile: those of changed objects, of the owners of changed children, and
 * of the objects that have to do with what is watched. A relation that ends counts as much as one that begins, so both
 * the state before a change and the one after it are asked.
 */
export function subscribe(options: TriggerOptions): void {
  const { definition, view, owned, watched } = options;
  const schema = statusSchemaOf(definition.kind);
  const guarded = (
    type: ReconcileTrigger["type"],
    keysOf: (change: CacheChange) => Iterable<ObjectKey>,
    priority?: QueuePriority,
  ) => follow(options, type, keysOf, priority);

  view.subscribe(
    guarded("object", (change) => {
      if (change.writer === definition.name && isOwnReport(change, view.own(change.key), schema)) return [];
      return (definition.options.when ?? always)(change) ? [change.key] : [];
    }),
  );
  // Requests by annotation count whatever the predicate says.
  view.subscribe(guarded("object", (change) => (isWish(change) ? [change.key] : []), "high"));
  for (const { view: children, bond } of owned) {
    children.subscribe(
      guarded("child", (change) => {
        const owners = states(change).flatMap((child) => bond.ownerKey(child) ?? []);
        return isOwnDoing(change, definition) ? owners.filter((owner) => !options.isSelfContained(owner)) : owners;
      }),
    );
  }
  watched.forEach(({ declared, view: others }, i) => {
    const { to, references, when = always, priority } = declared.options;
    if (to) {
      others.subscribe(
        guarded("watch", (change) => (when(change) ? states(change).flatMap((object) => to(object)) : []), priority),
      );
    } else if (references) {
      const index = `konverge/${definition.name}/references/${i}`;
      view.addIndex(index, references);
      others.subscribe(guarded("watch", (change) => (when(change) ? view.find(index, change.key) : []), priority));
    }
  });
}

/**
 * Whether a change that the answer to a write of ours told is no more than what we reported, in the status or by our
 * finalizer. The answer may also tell what others did in between, of which no event will be news any more.
 */
function isOwnReport(
  { type, before, object, writer }: CacheChange,
  own: OwnFields | undefined,
  schema: Schema,
): boolean {
  if (type !== "changed" || !before) return false;
  const reported = fieldsOf(own, writer!, "status")?.["f:status"];
  return deepEqual(unreported(before, reported, schema), unreported(object, reported, schema));
}

function unreported(object: KubeObject, fields: FieldsV1 | undefined, schema: Schema): object {
  const { status, metadata, ...rest } = object as KubeObject & { status?: unknown };
  const { resourceVersion: _r, managedFields: _m, finalizers: _f, ...others } = metadata;
  return { ...rest, metadata: others, status: unownedPart(fields, status, schema) };
}

/**
 * Whether a pass made a child so. It knows the answer, and has gone by it: for a result that cannot depend on the child,
 * another reconcile would find nothing to do. Daemons write in the controller's name as well, and no pass knows of that.
 */
function isOwnDoing({ type, writer }: CacheChange, { name, options }: Controller): boolean {
  return type !== "deleted" && writer === name && options.daemons === undefined;
}

const always = () => true;

const states = ({ object, before }: CacheChange): KubeObject[] => (before ? [before, object] : [object]);

function follow(
  { definition, add, onError }: TriggerOptions,
  type: ReconcileTrigger["type"],
  keysOf: (change: CacheChange) => Iterable<ObjectKey>,
  priority: QueuePriority | undefined,
): (change: CacheChange) => void {
  return (change) => {
    try {
      const keys = keysOf(change);
      // Most changes concern no object.
      if (Array.isArray(keys) && keys.length === 0) return;
      const trigger = triggerOf(type, change, definition);
      const urgency = priority ?? (change.listed && change.type !== "deleted" ? "low" : "normal");
      for (const key of new Set(keys)) add(key, urgency, trigger);
    } catch (error) {
      onError(error, triggerOf(type, change, definition));
    }
  };
}

function triggerOf(
  type: ReconcileTrigger["type"],
  { key, object, type: change, writer }: CacheChange,
  { name }: Controller,
): ReconcileTrigger {
  const { kind, metadata } = object;
  const trigger = { type, kind, key, resourceVersion: metadata.resourceVersion, change };
  return writer === name ? { ...trigger, own: true } : trigger;
}
