import type { FieldError, KindRef, KubeObject, Mutable } from "@konverge/core";
import type { UserInfo } from "@konverge/kinds";

/** An operation that admission webhooks are called for. */
export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE";

/** The write that an admission webhook is called for. */
export interface AdmissionRequest<T extends KubeObject> {
  readonly operation: AdmissionOperation;
  /** The object as it is stored, for updates and deletions. */
  readonly old: T | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Set if only a subresource is written: `status`. */
  readonly subresource: string | undefined;
  /** Returns a warning to the client without denying the write. kubectl prints it. */
  warn(message: string): void;
}

/** Thrown by a webhook to reject a write for a reason that is not in a field. */
export class AdmissionDeniedError extends Error {
  override readonly name = "Refusal";
  /** The HTTP status of the response to the client. */
  readonly code: number;

  constructor(message: string, options: ErrorOptions & { code?: number } = {}) {
    super(message, options);
    this.code = options.code ?? 403;
  }
}

export interface AdmissionWebhookOptions<T extends KubeObject> {
  /** Part of the webhook's name and path. Default: the kind's plural and group. */
  name?: string;
  /** Changes the object in place. Not called for deletions. It can be called again with its own result. */
  mutate?(draft: Mutable<T>, request: AdmissionRequest<T>): void | Promise<void>;
  /**
   * Returns the field errors of the object; none admits the write. For a deletion, `object` is the object to delete.
   * Throwing an {@link AdmissionDeniedError} also rejects the write.
   */
  validate?(
    object: T,
    request: AdmissionRequest<T>,
  ): readonly FieldError[] | undefined | Promise<readonly FieldError[] | undefined>;
  /** The operations that it is called for. Default: CREATE and UPDATE. */
  operations?: readonly AdmissionOperation[];
  /** Subresources that it is called for as well: `["status"]`. */
  subresources?: readonly string[];
  /** What happens to a write if the webhook cannot be reached. Default: Fail. */
  failurePolicy?: "Fail" | "Ignore";
  timeoutSeconds?: number;
  namespaceSelector?: object;
  objectSelector?: object;
  /** CEL expressions that select the writes. */
  matchConditions?: readonly { name: string; expression: string }[];
  /** Whether a mutating webhook is called again after others have changed the object. Default: IfNeeded. */
  reinvocationPolicy?: "Never" | "IfNeeded";
}

/** The definition of an admission webhook. Created by {@link admissionWebhook}. */
export interface AdmissionWebhook {
  readonly type: "admission";
  readonly name: string;
  readonly kind: KindRef<KubeObject>;
  readonly options: AdmissionWebhookOptions<KubeObject>;
}

/**
 * Defines an admission webhook: mutates and validates the objects of a kind before they are stored:
 *
 * ```ts
 * admissionWebhook(Model, {
 *   mutate(draft) { draft.metadata.labels = { ...draft.metadata.labels, team: "ml" }; },
 *   validate: (model, { old }) =>
 *     old && old.spec.size > model.spec.size ? [fieldInvalid("spec.size", model.spec.size, "must not shrink")] : [],
 * });
 * ```
 */
export function admissionWebhook<T extends KubeObject>(
  kind: KindRef<T>,
  options: AdmissionWebhookOptions<T>,
): AdmissionWebhook {
  if (!options.mutate && !options.validate) {
    throw new TypeError(`admissionWebhook(${kind.kind}): set \`mutate\`, \`validate\`, or both`);
  }
  const name = options.name ?? (kind.group === "" ? `${kind.plural}.core` : `${kind.plural}.${kind.group}`);
  // Only objects of the kind ever reach its functions.
  return { type: "admission", name, kind, options: options as unknown as AdmissionWebhookOptions<KubeObject> };
}

/** A field with an invalid value. */
export function fieldInvalid(field: string, value: unknown, why: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: ${JSON.stringify(value)}: ${why}` };
}

/** A required field that is missing. */
export function fieldRequired(field: string, why = ""): FieldError {
  return { reason: "FieldValueRequired", field, message: why === "" ? "Required value" : `Required value: ${why}` };
}

/** A field that must not be set or changed. */
export function fieldForbidden(field: string, why: string): FieldError {
  return { reason: "FieldValueForbidden", field, message: `Forbidden: ${why}` };
}
