import { isConflict, isNotFound } from "konverge";

/** For `catch`: an object that is not there, or whose kind is not, is none. A conflict is an error: after it, nothing was written. */
export function ignoreMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

/** For `catch` after the deletion of one object by its uid: another one may have its name by now. */
export function ignoreGone(error: unknown): undefined {
  if (!isConflict(error)) ignoreMissing(error);
}
