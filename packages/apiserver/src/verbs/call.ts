import { type AnyObject, type ApiRequest, type Clock, parseJson, stringifyJson, timestamp } from "@konverge/core";
import type { RequestInfo } from "../http/request-info.ts";
import type { ResourceDefinition, ResourceVersion, StrategyContext } from "../resources/definition.ts";
import type { Entry } from "../storage/collection.ts";
import type { EntryContent, Store } from "../storage/store.ts";

/** Who asks, after authentication and impersonation. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Called around each write, before validation (mutating) and after it (validating). */
export interface Admission {
  mutate(
    call: Call,
    object: AnyObject | undefined,
    old: AnyObject | undefined,
    operation: Operation,
  ): Promise<AnyObject | undefined>;
  validate(call: Call, object: AnyObject | undefined, old: AnyObject | undefined, operation: Operation): Promise<void>;
}

export type Operation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** One request on its way through the verbs. */
export interface Call {
  readonly store: Store;
  readonly clock: Clock;
  readonly admission: Admission;
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly definition: ResourceDefinition;
  readonly version: ResourceVersion;
  readonly user: User;
  /** Adds a Warning header to the answer. */
  warn(text: string): void;
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
export function objectOf(entry: Entry): AnyObject {
  return parseJson(entry.text) as AnyObject;
}

/** What the store keeps of an object at a revision. */
export function contentOf(definition: ResourceDefinition, object: AnyObject): (revision: number) => EntryContent {
  return (revision) => {
    object.metadata.resourceVersion = String(revision);
    return {
      text: stringifyJson(object),
      uid: object.metadata.uid ?? "",
      labels: object.metadata.labels,
      fields: definition.strategy.fields?.(object),
    };
  };
}

export function strategyContext(call: Call): StrategyContext {
  return { now: timestamp(call.clock), subresource: call.info.subresource, user: call.user.name };
}

export function isDryRun(call: Call): boolean {
  return call.info.query.getAll("dryRun").includes("All");
}
