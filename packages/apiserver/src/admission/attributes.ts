import { type ApiError, forbidden } from "@konverge/core";
import type { Call, Operation } from "../call/call.ts";
import type { WorkingObject } from "../codec/working-object.ts";
import { Reinvocation } from "./reinvocation.ts";

/** A write as admission plugins see it. `object` is a draft that mutating plugins may change, or exchange. */
export interface AdmissionAttributes {
  readonly call: Call;
  readonly operation: Operation;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  /** In the request's path; empty for creates. */
  readonly name: string;
  readonly kind: string;
  object: WorkingObject | undefined;
  readonly old: WorkingObject | undefined;
  readonly reinvocation: Reinvocation;
}

/**
 * One step of admission. Where it has both, it changes objects first and judges them once all have had their turn. `mutate`
 * may be called twice for one write.
 */
export interface AdmissionPlugin {
  readonly name: string;
  /** Whether it has anything to say about such writes at all. */
  handles(attributes: AdmissionAttributes): boolean;
  mutate?(attributes: AdmissionAttributes): void | Promise<void>;
  validate?(attributes: AdmissionAttributes): void | Promise<void>;
}

export function attributesOf(
  call: Call,
  object: WorkingObject | undefined,
  old: WorkingObject | undefined,
  operation: Operation,
): AdmissionAttributes {
  const { info } = call;
  return {
    call,
    operation,
    group: info.group,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: operation === "CREATE" && info.subresource === "" ? (object?.metadata?.name ?? "") : info.name,
    kind: call.version.kind,
    object,
    old,
    reinvocation: new Reinvocation(),
  };
}

/** Whether a write is about objects of a resource, not of a subresource. */
export function isAbout({ group, resource, subresource }: AdmissionAttributes, ...resources: string[]): boolean {
  return subresource === "" && resources.includes(`${group}/${resource}`);
}

/** The 403 of a plugin that will not have a write. */
export function refusal({ group, resource, name, object }: AdmissionAttributes, why: string): ApiError {
  const called = name || object?.metadata?.name || object?.metadata?.generateName || "Unknown";
  return forbidden({ group, plural: resource }, called, why);
}
