import { admission, type FieldError, fieldForbidden, fieldInvalid, parseQuantity } from "konverge";
import { Database } from "./database.ts";
import { engineOf } from "./engines.ts";

/** What a CRD's schema cannot say: that a size is one, and that a server cannot become another kind of server. */
export function databaseErrors(database: Database, old: Database | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const { size } = database.spec;
  if (!isSize(size)) errors.push(fieldInvalid("spec.size", size, "must be the size of a volume, as 5Gi or 500M"));
  if (old && engineOf(old).name !== engineOf(database).name) {
    const [was, is] = [engineOf(old).name, engineOf(database).name];
    errors.push(fieldForbidden("spec.engine", `the data of ${was} cannot be read by ${is}`));
  }
  return errors;
}

function isSize(text: string): boolean {
  try {
    return parseQuantity(text).sign() > 0;
  } catch {
    return false;
  }
}

/** Refuses what could never run. That a volume cannot shrink is no reason to refuse: it stays, and that is told. */
export const databaseAdmission = () =>
  admission(Database, { validate: (database, { old }) => databaseErrors(database, old) });
