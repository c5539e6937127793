import { type ApiError, isInvalid } from "@konverge/core";

/**
 * True if the server refused an apply because a field of the existing object cannot be changed. There is no reason code
 * for it, so it goes by the texts that Kubernetes' own validation uses for all such fields.
 */
export function isImmutable(error: unknown): error is ApiError {
  if (!isInvalid(error)) return false;
  const { status, message } = error as ApiError;
  const texts = [message, ...(status.details?.causes ?? []).map((cause) => cause.message ?? "")];
  return texts.some((text) => IMMUTABLE.test(text));
}

const IMMUTABLE =
  /field is immutable|is immutable|immutable after creation|may not be changed|may not change once set|may not change fields other than|may not add or remove|cannot be changed|can not be changed|updates to .* are forbidden|Value is immutable/i;
