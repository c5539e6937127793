import { isConflict, isNotFound } from "konverge";

/** For `catch`: ignores a missing object or kind. A conflict is still an error: after it, nothing was written. */
export function ignoreMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

/** For `catch` after the deletion of one object by its uid: its name may have been reused. */
export function ignoreDeleted(error: unknown): undefined {
  if (!isConflict(error)) ignoreMissing(error);
}
