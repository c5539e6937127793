/**
 * The permissions that an operator needs, and no more.
 *
 * {@link controllerPermissions} computes them from the controllers; {@link PermissionRecorder} records them in a test;
 * {@link comparePermissions} compares the two; {@link rolesFor} writes the roles; {@link checkPermissions} checks them against
 * a cluster.
 */
export {
  type Permission,
  type PermissionDeclaration,
  type PermissionVerb,
  permission,
  permissionText,
  policyRules,
} from "./access.ts";
export { controllerPermissions, type PermissionOptions } from "./declared.ts";
export { comparePermissions, type PermissionDifference, PermissionRecorder } from "./observed.ts";
export { checkPermissions, MissingPermissionError } from "./preflight.ts";
export { type RbacObject, type RoleOptions, rolesFor } from "./roles.ts";
