import {
  ApiError,
  type ApiRequest,
  apiVersionOf,
  type Clock,
  parseApiVersion,
  parseJson,
  stringifyJson,
  timestamp,
} from "@konverge/core";
import type { Activity } from "../activity.ts";
import type { Attributes } from "../auth/attributes.ts";
import type { User } from "../auth/user.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { Form } from "../representation/form.ts";
import type { ResourceDefinition, ResourceVersion, StrategyContext } from "../resources/definition.ts";
import type { Registry } from "../resources/registry.ts";
import type { Entry } from "../storage/collection.ts";
import type { EntryContent, Store } from "../storage/store.ts";

export type { User } from "../auth/user.ts";

/**
 * Called around each write, before the strategy (mutating) and after validation (validating). Objects are in the version
 * of the request. `object` is undefined for deletes, `old` for creates.
 */
export interface Admission {
  /** Returns the object to go on with: the one it was given, changed in place or not, or another. */
  mutate(
    call: Call,
    object: WorkingObject | undefined,
    old: WorkingObject | undefined,
    operation: Operation,
  ): Promise<WorkingObject | undefined>;
  validate(
    call: Call,
    object: WorkingObject | undefined,
    old: WorkingObject | undefined,
    operation: Operation,
  ): Promise<void>;
}

export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** What every request can reach, whoever makes it. */
export interface Services {
  readonly store: Store;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly activity: Activity;
  readonly admission: Admission;
  /** Makes tables, see representation/table.ts. */
  readonly tables: TableMaker;
  /** Whether a user may do something. */
  authorize(user: User, action: Attributes): { allowed: boolean; reason: string };
}

/** The cells of a table. */
export interface TableContent {
  readonly columnDefinitions: readonly object[];
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly conditions?: readonly object[] }[];
}

export type TableMaker = (call: Call, objects: readonly WorkingObject[]) => TableContent;

/** One request about objects, on its way through the verbs. */
export interface Call extends Services {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly definition: ResourceDefinition;
  readonly version: ResourceVersion;
  readonly user: User;
  /** In what form the answer is wanted. */
  readonly form: Form;
  /** Nothing is to be stored. */
  readonly dryRun: boolean;
  /** Adds a Warning header to the answer. */
  warn(text: string): void;
  /** Writes something down about the request, where there is an audit log. */
  annotate?(key: string, value: string): void;
}

/** The key of an object in its collection. */
export function storageKey(definition: ResourceDefinition, namespace: string | undefined, name: string): string {
  return definition.namespaced ? `${namespace ?? ""}/${name}` : name;
}

export function currentEntry(call: Call): Entry | undefined {
  return call.store
    .collection(call.definition.storage)
    .get(storageKey(call.definition, call.info.namespace, call.info.name));
}

/** A stored object, parsed: the caller's own copy. */
export function objectOf(entry: Entry): WorkingObject {
  return parseJson(entry.text) as WorkingObject;
}

/** The longest object that can be stored: etcd's limit on requests. */
const MOST_BYTES = 1.5 * 1024 * 1024;

/**
 * What the store keeps of an object, in the stored version, at a revision. Throws when it is too long to be stored; who
 * owns which field is dropped first.
 */
export function contentOf(definition: ResourceDefinition, object: WorkingObject): (revision: number) => EntryContent {
  return (revision) => {
    const { metadata } = object;
    metadata.resourceVersion = String(revision);
    let text = stringifyJson(definition.storageCodec.canonical(object));
    if (isTooLong(text)) {
      delete metadata.managedFields;
      text = stringifyJson(definition.storageCodec.canonical(object));
      if (isTooLong(text)) throw new ApiError({ code: 500, message: "etcdserver: request is too large" });
    }
    return { text, uid: metadata.uid ?? "", labels: metadata.labels, fields: definition.strategy.fields?.(object) };
  };
}

function isTooLong(text: string): boolean {
  return text.length * 3 > MOST_BYTES && Buffer.byteLength(text) > MOST_BYTES;
}

/** The apiVersion of the request. */
export function requestVersion({ definition, version }: Call): string {
  return apiVersionOf({ group: definition.group, version: version.version });
}

/** The apiVersion in which strategies see objects: the stored one, but that of the request for custom resources. */
export function workingVersion(call: Call): string {
  return call.definition.custom ? requestVersion(call) : call.definition.storedAs;
}

/** The kind that errors about an object name: that of the stored version's group. */
export function errorKind({ definition, version }: Call): { group: string; kind: string } {
  return {
    group: definition.custom ? definition.group : parseApiVersion(definition.storedAs).group,
    kind: version.kind,
  };
}

/** An object in another version of its kind. */
export async function convertTo(
  definition: ResourceDefinition,
  object: WorkingObject,
  apiVersion: string,
): Promise<WorkingObject> {
  if (object.apiVersion === apiVersion) return object;
  const [converted] = await definition.convert([object], apiVersion);
  return converted!;
}

export function strategyContext(call: Call): StrategyContext {
  return { now: timestamp(call.clock), subresource: call.info.subresource, user: call.user.name, call };
}

export function isDryRun(call: Call): boolean {
  return call.dryRun;
}
