import type { StatusObject } from "@konverge/core";
import type { User } from "../auth/user.ts";
import type { AuditLevel, AuditStage } from "./policy.ts";

/** One line of the log, an `audit.k8s.io/v1` Event. */
export interface AuditEvent {
  kind: "Event";
  apiVersion: "audit.k8s.io/v1";
  level: AuditLevel;
  auditID: string;
  stage: AuditStage;
  requestURI: string;
  verb: string;
  user: AuditUser;
  impersonatedUser?: AuditUser;
  authenticationMetadata?: { impersonationConstraint: string };
  sourceIPs?: string[];
  userAgent?: string;
  objectRef?: ObjectReference;
  responseStatus?: Partial<StatusObject>;
  requestObject?: unknown;
  responseObject?: unknown;
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  annotations?: Record<string, string>;
}

/** A user as events show it. */
export interface AuditUser {
  username?: string;
  uid?: string;
  groups?: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

/** The object that a request is about, as far as it is known. */
export interface ObjectReference {
  resource?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiGroup?: string;
  apiVersion?: string;
  resourceVersion?: string;
  subresource?: string;
}

/** A user in the form that events have. */
export function auditUser({ name, uid, groups, extra }: User): AuditUser {
  return {
    username: name,
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  };
}

/** An object or list (also of table rows) without the record of who owns which field. */
export function withoutManagedFields(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const object = { ...(value as Record<string, unknown>) };
  if (typeof object["metadata"] === "object" && object["metadata"] !== null) {
    const { managedFields: _, ...metadata } = object["metadata"] as Record<string, unknown>;
    object["metadata"] = metadata;
  }
  if (Array.isArray(object["items"])) object["items"] = object["items"].map(withoutManagedFields);
  if (Array.isArray(object["rows"])) {
    object["rows"] = object["rows"].map((row) => ({ ...row, object: withoutManagedFields(row.object) }));
  }
  return object;
}
