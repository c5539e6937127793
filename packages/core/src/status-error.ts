import { groupKindText, groupResourceText } from "./kind-ref.ts";
import { quoted } from "./quoted.ts";

/** The `Status` object that an API server returns for an error. */
export interface StatusObject {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string | undefined; readonly resourceVersion?: string | undefined };
  readonly status: "Success" | "Failure";
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly details?: StatusDetails | undefined;
  readonly code: number;
}

/** The object that an error is about, and its causes. */
export interface StatusDetails {
  readonly name?: string | undefined;
  readonly group?: string | undefined;
  readonly kind?: string | undefined;
  readonly uid?: string | undefined;
  readonly causes?: readonly StatusCause[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** A cause of an error, and its field. */
export interface StatusCause {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly field?: string | undefined;
}

/**
 * An error that an API server returned. The client throws it, and so does the embedded API server, which returns it as
 * the same `Status`.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: StatusObject;

  constructor(
    status: Omit<StatusObject, "kind" | "apiVersion" | "metadata" | "status"> & Partial<StatusObject>,
    options?: ErrorOptions,
  ) {
    super(status.message ?? `the server answered with HTTP status ${status.code}`, options);
    const { metadata = {}, message, reason, details, code } = status;
    // In the order in which a real server writes them.
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata,
      status: "Failure",
      ...(message !== undefined && { message }),
      ...(reason !== undefined && { reason }),
      ...(details !== undefined && { details }),
      code,
    };
  }

  /** The HTTP status. */
  get code(): number {
    return this.status.code;
  }

  /** The machine-readable reason: `NotFound`, `Conflict`, `Invalid` … */
  get reason(): string {
    return this.status.reason ?? "Unknown";
  }

  get details(): StatusDetails | undefined {
    return this.status.details;
  }

  /** How long to wait before a retry, in milliseconds, as the server requests. */
  get retryAfter(): number | undefined {
    const seconds = this.status.details?.retryAfterSeconds;
    return seconds === undefined ? undefined : seconds * 1000;
  }
}

/** The resource an error speaks of. */
export interface ResourceName {
  group: string;
  plural: string;
}

const about = (resource: ResourceName, name: string): StatusDetails => ({
  ...(name !== "" && { name }),
  ...(resource.group !== "" && { group: resource.group }),
  ...(resource.plural !== "" && { kind: resource.plural }),
});

/** 404: there is no such object. */
export function notFound(resource: ResourceName, name: string): ApiError {
  const message = `${groupResourceText(resource)} ${quoted(name)} not found`;
  return new ApiError({ code: 404, reason: "NotFound", message, details: about(resource, name) });
}

/** 409: the name is taken. */
export function alreadyExists(resource: ResourceName, name: string): ApiError {
  const message = `${groupResourceText(resource)} ${quoted(name)} already exists`;
  return new ApiError({ code: 409, reason: "AlreadyExists", message, details: about(resource, name) });
}

/** 409: the write does not fit what is stored. */
export function conflict(resource: ResourceName, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${groupResourceText(resource)} ${quoted(name)}: ${why}`;
  return new ApiError({ code: 409, reason: "Conflict", message, details: about(resource, name) });
}

/** The usual conflict: the object has changed since. */
export function modified(resource: ResourceName, name: string): ApiError {
  return conflict(
    resource,
    name,
    "the object has been modified; please apply your changes to the latest version and try again",
  );
}

/** 403: the caller may not do this, or a policy refuses it. */
export function forbidden(resource: ResourceName, name: string, why: string): ApiError {
  const subject = name === "" ? groupResourceText(resource) : `${groupResourceText(resource)} ${quoted(name)}`;
  const message = resource.plural === "" ? `forbidden: ${why}` : `${subject} is forbidden: ${why}`;
  return new ApiError({ code: 403, reason: "Forbidden", message, details: about(resource, name) });
}

/** 400: the request makes no sense. */
export function badRequest(message: string): ApiError {
  return new ApiError({ code: 400, reason: "BadRequest", message });
}

/** 410: the version or continue token is too old. List again. */
export function expired(message: string): ApiError {
  return new ApiError({ code: 410, reason: "Expired", message });
}

/** 405: the resource has no such verb. */
export function methodNotAllowed(resource: ResourceName, verb: string): ApiError {
  const message = `${verb} is not supported on resources of kind "${groupResourceText(resource)}"`;
  return new ApiError({ code: 405, reason: "MethodNotAllowed", message, details: about(resource, "") });
}

/** 429: try again later. */
export function tooManyRequests(message: string, retryAfterSeconds: number): ApiError {
  return new ApiError({ code: 429, reason: "TooManyRequests", message, details: { retryAfterSeconds } });
}

/** An error in a field of an object: `spec.replicas: Invalid value: -1: must be greater than or equal to 0`. */
export interface FieldError {
  reason:
    | "FieldValueRequired"
    | "FieldValueInvalid"
    | "FieldValueNotSupported"
    | "FieldValueForbidden"
    | "FieldValueDuplicate"
    | "FieldValueNotFound"
    | "FieldValueTooLong"
    | "FieldValueTooShort"
    | "FieldValueTooMany"
    | "FieldValueTooFew"
    | "FieldValueTypeInvalid"
    | "InternalError";
  field: string;
  message: string;
}

/** 422 with a cause for each thing wrong. */
export function invalid(kind: { group: string; kind: string }, name: string, errors: readonly FieldError[]): ApiError {
  const subject = `${groupKindText(kind)} ${quoted(name)} is invalid`;
  const shown = errors.slice(0, numberShown(errors));
  const distinct = [...new Set(shown.map(({ field, message }) => `${field}: ${message}`))];
  if (shown.length < errors.length) distinct.push(`and ${errors.length - shown.length} more errors`);
  const text = distinct.length === 1 ? distinct[0] : `[${distinct.join(", ")}]`;
  return new ApiError({
    code: 422,
    reason: "Invalid",
    message: errors.length === 0 ? subject : `${subject}: ${text}`,
    details: {
      ...(name !== "" && { name }),
      ...(kind.group !== "" && { group: kind.group }),
      kind: kind.kind,
      causes: shown.map(({ reason, message, field }) => ({ reason, message, field })),
    },
  });
}

/** The most characters of errors in an answer. Each error may show a whole list, and there may be one for each item. */
export const MOST_CHARACTERS = 1024 * 1024;

function numberShown(errors: readonly FieldError[]): number {
  let characters = 0;
  const first = errors.findIndex(({ message }, i) => {
    characters += message.length;
    return i > 0 && characters > MOST_CHARACTERS;
  });
  return first < 0 ? errors.length : first;
}

/** What a server answers when a request takes longer than it is given. */
export function outOfTime(): ApiError {
  return new ApiError({
    code: 504,
    reason: "Timeout",
    message: "Timeout: request did not complete within requested timeout - context deadline exceeded",
    details: {},
  });
}

const hasReason = (reason: string) => (error: unknown) => error instanceof ApiError && error.reason === reason;

/** The object does not exist. */
export const isNotFound = hasReason("NotFound");
/** An object with that name exists. */
export const isAlreadyExists = hasReason("AlreadyExists");
/** The object has changed since it was read, or another field manager owns the field. */
export const isConflict = hasReason("Conflict");
/** The object is invalid. */
export const isInvalid = hasReason("Invalid");
/** The caller does not have permission. */
export const isForbidden = hasReason("Forbidden");
/** The requested resource version is no longer available (Gone, Expired): list again. */
export const isResourceExpired = (error: unknown) => error instanceof ApiError && error.code === 410;
