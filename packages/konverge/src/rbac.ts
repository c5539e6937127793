/**
 * Which permissions an operator needs: computed from what it declares, recorded in a test, compared, written as roles, and
 * checked against a cluster.
 */
export {
  checkPermissions,
  comparePermissions,
  controllerPermissions,
  type GrantedRule,
  type GuardOptions,
  grantsOnly,
  guardPolicy,
  guardsOf,
  MissingPermissionError,
  type OperatorPermissionOptions,
  operatorPermissions,
  type Permission,
  type PermissionDifference,
  type PermissionOptions,
  PermissionRecorder,
  permissionText,
  policyRules,
  type RbacObject,
  type RoleOptions,
  rolesFor,
  type WebhookPermissionOptions,
  webhookPermissions,
} from "@konverge/runtime";
