import { type ApiRequest, apiVersionOf, type Clock, parseApiVersion, timestamp } from "@konverge/core";
import type { Activity } from "../activity.ts";
import type { Attributes } from "../auth/attributes.ts";
import type { User } from "../auth/user.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import type { Form } from "../http/form.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { ResourceDefinition, ResourceVersion, StrategyContext } from "../resources/definition.ts";
import type { Registry } from "../resources/registry.ts";
import { storageKey } from "../resources/stored-object.ts";
import type { Entry } from "../storage/entry.ts";
import type { Store } from "../storage/store.ts";

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

/** What every request can reach. */
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

export function currentEntry(call: Call): Entry | undefined {
  return call.store
    .collection(call.definition.storage)
    .get(storageKey(call.definition, call.info.namespace, call.info.name));
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

export function strategyContext(call: Call): StrategyContext {
  return { now: timestamp(call.clock), subresource: call.info.subresource, user: call.user.name, call };
}
