/**
 * What an operator must be allowed to do, and no more.
 *
 * {@link declaredAccess} reads it off the controllers; {@link AccessRecorder} sees it in a test; {@link compareAccess} tells
 * where the two differ; {@link rolesFor} writes the roles; {@link preflight} asks a server whether they are in force.
 */
export { type Access, accessText, rulesOf, type Use, use, type Verb } from "./access.ts";
export { type AccessOptions, declaredAccess } from "./declared.ts";
export { type AccessDifference, AccessRecorder, compareAccess } from "./observed.ts";
export { MissingAccessError, preflight } from "./preflight.ts";
export { type AccessObject, type RoleOptions, rolesFor } from "./roles.ts";
