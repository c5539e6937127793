import type { Client } from "@konverge/client";
import {
  type AnyObject,
  type ApiError,
  type Clock,
  type Condition,
  type Conditions,
  deepEqual,
  type FieldsV1,
  groupKindText,
  isNotFound,
  isObject,
  type JsonObject,
  type KindRef,
  type KubeObject,
  keyOf,
  type ObjectKey,
  type Schema,
  stampConditions,
  timestamp,
} from "@konverge/core";
import { fieldsOf } from "../cache/field-set-pool.ts";
import type { CacheView } from "../cache/view.ts";
import { AppliedState } from "../comparison/applied-state.ts";
import { ownedPart } from "../comparison/owned-part.ts";
import { PermanentError } from "../errors.ts";
import type { Log } from "../log.ts";
import { declares, UndeclaredFields } from "./undeclared-fields.ts";

/** What there is to say about an object. */
export interface StatusStatement {
  /** Left out: what was reported before stays. */
  status?: object;
  /** Conditions that are not mentioned stay as they were reported; undefined ones are withdrawn. */
  conditions?: Conditions;
  /** Of a status that is written whole. Left out: it stays. */
  whole?: object;
}

export interface StatusWriterOptions {
  clock: Clock;
  manager: string;
  view: CacheView<KubeObject>;
  /** Of the status. */
  schema: Schema;
  /** Whether this controller decides if the object is ready, rather than another controller of the same objects. */
  isPrimary: boolean;
  /** The status is replaced by what is stated, and nothing is added. */
  isWhole: boolean;
  log: Log;
}

/**
 * Writes what a reconcile says about its object.
 *
 * Guarantees
 * - Nothing is sent if the object already has this status, also after a restart.
 * - Only what this controller reported is replaced: conditions and fields of others stay.
 * - A transition time changes only when the condition's status does.
 * - observedGeneration advances only with a Ready condition for that generation, and only through the primary
 *   controller: a client that waits for the object never sees the new generation beside a Ready condition of an earlier
 *   one.
 * - What is said about one object is never written to another of the same name.
 * - Fields that the cluster's CustomResourceDefinition does not have do not prevent the others from being written.
 */
export class StatusWriter {
  readonly #options: StatusWriterOptions;
  readonly #applied = new AppliedState();
  readonly #undeclared: UndeclaredFields;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
    this.#undeclared = new UndeclaredFields(options.clock);
  }

  /** True if conditions can be reported that the reconciler did not return. */
  get derivesConditions(): boolean {
    return this.#options.isPrimary && this.#hasConditions && !this.#options.isWhole;
  }

  async write(object: KubeObject, statement: StatusStatement, client: Client): Promise<void> {
    const { view, schema } = this.#options;
    const key = keyOf(object);
    const live = view.get(key);
    if (!live || live.metadata.uid !== object.metadata.uid) return;
    if (this.#options.isWhole) return this.#replace(object, statement.whole, client);
    const fields = this.#ownFields(key);
    const status = this.#undeclared.leaveOut(this.#statusOf(object, live, statement));
    if (Object.keys(status).length === 0 && !fields) return;
    const applied = { sent: status, desired: status, schema };
    if (fields && this.#applied.isUpToDate(key, { ...applied, live: statusOf(live), fields })) return;
    let answer: KubeObject | undefined;
    try {
      answer = await this.#send(object, status, client);
    } catch (error) {
      if (!this.#learnsFrom(error)) throw error;
      return this.write(object, statement, client);
    }
    const owned = answer && this.#ownFields(key);
    this.#applied.answered(key, answer && owned && { ...applied, live: statusOf(answer), fields: owned });
  }

  /** Fails with a conflict if the object has changed since it was read: the status was stated for that state. */
  async #replace(object: KubeObject, status: object | undefined, client: Client): Promise<void> {
    if (!status || deepEqual(statusOf(object) ?? {}, status)) return;
    const kind = this.#options.view.kind as KindRef<AnyObject>;
    try {
      await client.updateStatus(kind, { ...object, status } as AnyObject, { fieldManager: this.#options.manager });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** A status without fields is left out: an apply that takes all fields away from a map that it names makes it null. */
  async #send(object: KubeObject, status: object, client: Client): Promise<KubeObject | undefined> {
    const { name, namespace, uid } = object.metadata;
    const metadata = { name, ...(namespace && { namespace }), uid };
    try {
      return await client.applyStatus(
        this.#options.view.kind as KindRef<AnyObject>,
        { metadata, ...(Object.keys(status).length > 0 && { status }) },
        { fieldManager: this.#options.manager, force: true },
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // The object is gone, and with it what there was to say.
      if ((error as ApiError).details?.name === name) return undefined;
      const { kind } = this.#options.view;
      throw new PermanentError(
        "NoStatus",
        `${groupKindText(kind)} has no status subresource: declare one in its CustomResourceDefinition, or report nothing`,
        { cause: error },
      );
    }
  }

  /**
   * True if it was rejected because of fields that the CRD does not have: they are omitted from now on, which is
   * logged.
   */
  #learnsFrom(error: unknown): boolean {
    const undeclared = this.#undeclared.learn(error);
    if (undeclared.length === 0) return false;
    const { log, view, schema } = this.#options;
    const kind = groupKindText(view.kind);
    const misspelled = undeclared.filter((path) => !declares(schema, path));
    if (misspelled.length > 0) {
      const message = `the definition of ${kind} does not declare ${misspelled.join(", ")}, which is not reported: add it to the status of the definition, or correct its name in what reconcile returns`;
      log.warn({ fields: misspelled }, message);
    }
    const older = undeclared.filter((path) => !misspelled.includes(path));
    if (older.length > 0) {
      const message = `the CustomResourceDefinition of ${kind} in the cluster does not declare ${older.join(", ")}: it is not reported until the operator's CRD is installed`;
      log.warn({ fields: older }, message);
    }
    return true;
  }

  #statusOf(object: KubeObject, live: KubeObject, statement: StatusStatement): JsonObject {
    const { generation } = object.metadata;
    const { observedGeneration, conditions: reported = [], ...before } = this.#reportedBefore(live);
    const current = (statusOf(live) as { conditions?: Condition[] } | undefined)?.conditions ?? [];
    const time = timestamp(this.#options.clock);
    const stated = stampConditions(statement.conditions ?? {}, current, { generation, time });
    const kept = (reported as Condition[]).filter(({ type }) => !(type in (statement.conditions ?? {})));
    const conditions = [...kept, ...stated].sort((a, b) => (a.type < b.type ? -1 : 1));
    const observed = this.#judgesReadiness(statement) ? generation : observedGeneration;
    return {
      ...(this.#reportsGeneration && observed !== undefined && { observedGeneration: observed }),
      ...(statement.status ?? before),
      ...(conditions.length > 0 && { conditions }),
    };
  }

  #reportedBefore(live: KubeObject): JsonObject {
    const fields = this.#ownFields(keyOf(live));
    const part = fields && ownedPart(fields, statusOf(live), this.#options.schema);
    return isObject(part) ? part : {};
  }

  /** The fields of the status that we have applied. */
  #ownFields(key: ObjectKey): FieldsV1 | undefined {
    const { view, manager } = this.#options;
    return fieldsOf(view.own(key), manager, "status")?.["f:status"];
  }

  #judgesReadiness({ conditions = {} }: StatusStatement): boolean {
    return !this.#hasConditions || "Ready" in conditions;
  }

  /** Of kinds without a schema it is not known whether the field exists. */
  get #reportsGeneration(): boolean {
    const { schema, isPrimary } = this.#options;
    return isPrimary && schema.properties?.observedGeneration !== undefined;
  }

  get #hasConditions(): boolean {
    return this.#options.schema.properties?.conditions !== undefined;
  }
}

const statusOf = (object: KubeObject) => (object as { status?: unknown }).status;
