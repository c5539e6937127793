import { type AnyObject, ApiError, type FieldError, invalid, parseApiVersion } from "@konverge/core";

/** A review that is valid: gives its answer, which validating admission may still prevent. */
export type CheckedReview = () => AnyObject;

/** A field and what is wrong with it, beginning as all such messages do: `Invalid value: …`, `Required value: …`. */
export type ReviewError = [field: string, message: string];

const REASONS: Record<string, FieldError["reason"]> = {
  Invalid: "FieldValueInvalid",
  Required: "FieldValueRequired",
  Forbidden: "FieldValueForbidden",
};

/** Throws the 422 for a review with errors. The real server forgets to say which kind it is about, and so do we. */
export function refuse(review: AnyObject, errors: readonly ReviewError[]): void {
  if (errors.length === 0) return;
  const { group } = parseApiVersion(review.apiVersion);
  const { status } = invalid(
    { group, kind: "" },
    "",
    errors.map(([field, message]) => ({ field, message, reason: REASONS[/^\w+/.exec(message)![0]]! })),
  );
  throw new ApiError({ ...status, details: { group, causes: status.details?.causes } });
}
