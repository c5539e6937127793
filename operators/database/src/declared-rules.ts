import type { FieldError } from "konverge";
import { fieldForbidden, fieldInvalid } from "konverge/webhooks";
import type { Database } from "./database.ts";

/** PostgreSQL cuts longer names off, and would look for something that never exists. */
const LONGEST = 63;
const OWN_ROLES: ReadonlySet<string> = new Set(["postgres", "replicator", "monitor"]);
const OWN_DATABASES: ReadonlySet<string> = new Set(["postgres", "template0", "template1"]);
const NO_ROLES: ReadonlySet<string> = new Set(["public", "none", "current_user", "session_user", "current_role"]);

/** What a schema of a CRD cannot say of declared roles and databases. */
export function declaredErrors({ spec }: Pick<Database, "spec">): FieldError[] {
  return [...roleErrors(spec), ...databaseErrors(spec)];
}

function roleErrors({ roles = [], application }: Database["spec"]): FieldError[] {
  const owner = application && (application.owner ?? application.database);
  return roles.flatMap(({ name, inRoles = [] }, index) => {
    const field = `spec.roles[${index}]`;
    const errors = [...nameErrors(`${field}.name`, name), ...reservedErrors(`${field}.name`, name)];
    if (OWN_ROLES.has(name) || NO_ROLES.has(name))
      errors.push(fieldForbidden(`${field}.name`, `${name} is reserved: choose another name`));
    if (name === owner)
      errors.push(fieldForbidden(`${field}.name`, `${name} is the role of spec.application: remove it here`));
    if (inRoles.includes(name)) errors.push(fieldForbidden(`${field}.inRoles`, "a role is no member of itself"));
    errors.push(...inRoles.flatMap((one) => nameErrors(`${field}.inRoles`, one)));
    return errors;
  });
}

function databaseErrors({ databases = [], application }: Database["spec"]): FieldError[] {
  return databases.flatMap((one, index) => {
    const field = `spec.databases[${index}]`;
    const { name, owner, ensure, schemas = [], extensions = [] } = one;
    const errors = nameErrors(`${field}.name`, name);
    if (OWN_DATABASES.has(name))
      errors.push(fieldForbidden(`${field}.name`, `${name} is PostgreSQL's own: choose another name`));
    if (name === application?.database) {
      if (ensure === "absent")
        errors.push(
          fieldForbidden(`${field}.ensure`, `${name} is the database of spec.application: it is not dropped`),
        );
      if (owner !== undefined && owner !== (application.owner ?? application.database))
        errors.push(fieldForbidden(`${field}.owner`, `${name} is the database of spec.application: omit its owner`));
    } else if (owner === undefined && ensure === "present") {
      errors.push(
        fieldInvalid(`${field}.owner`, owner ?? null, "is required: the name of the role that owns the database"),
      );
    }
    if (owner !== undefined) errors.push(...nameErrors(`${field}.owner`, owner));
    for (const [at, schema] of schemas.entries()) {
      const path = `${field}.schemas[${at}]`;
      errors.push(...nameErrors(`${path}.name`, schema.name), ...reservedErrors(`${path}.name`, schema.name));
      if (schema.name === "information_schema")
        errors.push(fieldForbidden(`${path}.name`, "information_schema is PostgreSQL's own"));
      if (schema.owner !== undefined) errors.push(...nameErrors(`${path}.owner`, schema.owner));
    }
    for (const [at, extension] of extensions.entries()) {
      errors.push(...nameErrors(`${field}.extensions[${at}].name`, extension.name));
      if (extension.schema !== undefined)
        errors.push(...nameErrors(`${field}.extensions[${at}].schema`, extension.schema));
    }
    return errors;
  });
}

function nameErrors(field: string, name: string): FieldError[] {
  const length = Buffer.byteLength(name);
  if (length > LONGEST)
    return [fieldInvalid(field, name, `must have at most ${LONGEST} bytes, and has ${length}: PostgreSQL cuts it off`)];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what no name may have
  if (/[\u0000-\u001f\u007f]/.test(name)) return [fieldInvalid(field, name, "must have no control characters")];
  return [];
}

function reservedErrors(field: string, name: string): FieldError[] {
  return name.startsWith("pg_") ? [fieldForbidden(field, "names that begin with pg_ are PostgreSQL's own")] : [];
}
