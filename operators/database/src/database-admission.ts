import type { FieldError } from "konverge";
import type { ResourceRequirements } from "konverge/kinds";
import { parseQuantity } from "konverge/objects";
import { podTemplateErrors } from "konverge/pods";
import { admissionWebhook, fieldForbidden, fieldInvalid } from "konverge/webhooks";
import { Database } from "./database.ts";
import { LONGEST_RESTORE_NAME } from "./database-restore.ts";
import { declaredErrors } from "./declared-rules.ts";
import { engineOf } from "./engines.ts";
import { parameterErrors } from "./parameter-rules.ts";
import { bootstrapName } from "./restore-hold.ts";

/**
 * What a CRD's schema cannot say: sizes that are none, fields that contradict each other, what an engine has not, and parameters
 * that are not accepted. A parameter that an object has from before a rule does not keep it from being changed.
 */
export function databaseErrors(database: Database, old: Database | undefined): FieldError[] {
  const known = new Set(old ? parameterErrors(old).map(({ field, message }) => `${field} ${message}`) : []);
  const isNew = ({ field, message }: FieldError) => !known.has(`${field} ${message}`);
  return [...specErrors(database, old), ...parameterErrors(database).filter(isNew)];
}

/** The errors with which an object cannot be reconciled. */
export function specErrors(database: Database, old: Database | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const { size, storage, instances, synchronous } = database.spec;
  if (!isSize(size)) errors.push(fieldInvalid("spec.size", size, "must be the size of a volume, such as 5Gi or 500M"));
  if (synchronous >= instances && synchronous > 0) {
    const message = `must be less than spec.instances (${instances}): each of these standbys must confirm a commit`;
    errors.push(fieldInvalid("spec.synchronous", synchronous, message));
  }
  if (storage && isSize(size) && isSmaller(String(storage.limit), size)) {
    errors.push(fieldInvalid("spec.storage.limit", storage.limit, `must not be less than spec.size (${size})`));
  }
  errors.push(...resourceErrors(database), ...bootstrapErrors(database), ...podTemplateErrors(database.spec.template));
  errors.push(...declaredErrors(database));
  if (database.spec.replica?.source.database === database.metadata.name) {
    errors.push(fieldForbidden("spec.replica.source.database", "a Database cannot follow itself: name another one"));
  }
  const engine = engineOf(database);
  if (engine.name === "mysql") errors.push(...mysqlErrors(database));
  if (old && engineOf(old).name !== engine.name) {
    errors.push(fieldForbidden("spec.engine", `the data of ${engineOf(old).name} cannot be read by ${engine.name}`));
  }
  return errors;
}

/** What no container could be given. */
function resourceErrors({ spec }: Database): FieldError[] {
  return [
    ...requirementErrors("spec.resources", spec.resources),
    ...requirementErrors("spec.exporter.resources", spec.exporter?.resources),
  ];
}

function requirementErrors(path: string, resources: ResourceRequirements | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const part of ["requests", "limits"] as const) {
    for (const [name, given] of Object.entries(resources?.[part] ?? {})) {
      const field = `${path}.${part}.${name}`;
      const limit = resources?.limits?.[name];
      if (!isAmount(given)) errors.push(fieldInvalid(field, given, "must be a quantity, such as 500m or 2Gi"));
      else if (part === "requests" && isAmount(limit) && parseQuantity(limit).cmp(parseQuantity(given)) < 0) {
        errors.push(fieldInvalid(field, given, `must not be more than its limit (${limit})`));
      }
    }
  }
  return errors;
}

/** The same rules as a DatabaseRestore has: it could not be made otherwise. */
function bootstrapErrors(database: Database): FieldError[] {
  const { bootstrap } = database.spec;
  if (!bootstrap) return [];
  const { targetTime, targetLSN, targetXID, from } = bootstrap;
  const errors: FieldError[] = [];
  const tooMany = bootstrapName(database).length - LONGEST_RESTORE_NAME;
  if (tooMany > 0) {
    const message = `makes a DatabaseRestore ${bootstrapName(database)}, a name with ${tooMany} characters too many`;
    errors.push(fieldForbidden("spec.bootstrap", message));
  }
  if ([targetTime, targetLSN, targetXID].filter((given) => given !== undefined).length > 1) {
    errors.push(fieldForbidden("spec.bootstrap", "targetTime, targetLSN, targetXID: set at most one of them"));
  }
  if (targetXID !== undefined && from?.backup === undefined) {
    errors.push(fieldForbidden("spec.bootstrap.targetXID", "needs from.backup: the backup to start from"));
  }
  if (from?.claim !== undefined && from.objectStore !== undefined) {
    errors.push(fieldForbidden("spec.bootstrap.from", "claim, objectStore: set at most one of them"));
  }
  return errors;
}

function mysqlErrors({ spec }: Database): FieldError[] {
  const missing: readonly [string, boolean][] = [
    ["spec.instances", spec.instances > 1],
    ["spec.switchoverTo", spec.switchoverTo !== undefined],
    ["spec.storage", spec.storage !== undefined],
    ["spec.credentials.rotateEvery", spec.credentials?.rotateEvery !== undefined],
    ["spec.pooler", spec.pooler !== undefined],
    ["spec.application", spec.application !== undefined],
    ["spec.roles", spec.roles !== undefined],
    ["spec.databases", spec.databases !== undefined],
    ["spec.enableSuperuserAccess", spec.enableSuperuserAccess !== undefined],
    ["spec.tls", spec.tls !== undefined],
    ["spec.replica", spec.replica !== undefined],
    ["spec.backup.objectStore", spec.backup?.objectStore !== undefined],
  ];
  const given = missing.filter(([, isGiven]) => isGiven);
  return given.map(([field]) =>
    fieldForbidden(field, "is supported for postgres only: omit it, or choose that engine"),
  );
}

function isSmaller(a: string, b: string): boolean {
  return !isSize(a) || parseQuantity(a).cmp(parseQuantity(b)) < 0;
}

function isAmount(given: unknown): given is string {
  try {
    return given !== undefined && parseQuantity(String(given)).sign() >= 0;
  } catch {
    return false;
  }
}

function isSize(text: string): boolean {
  try {
    return parseQuantity(text).sign() > 0;
  } catch {
    return false;
  }
}

/** Rejects what could never run. That a volume cannot shrink is no reason to reject: it stays, and that is reported. */
export const databaseAdmission = () =>
  admissionWebhook(Database, { validate: (database, { old }) => databaseErrors(database, old) });
