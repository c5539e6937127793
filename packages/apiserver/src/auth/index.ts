/**
 * Who asks, and whether they may.
 *
 * {@link AccessControl} authenticates (client certificates, service-account and other tokens), lets those act as somebody
 * else who may, and decides by the roles and bindings in the store. A {@link Guard} puts it, and the audit log, in front of
 * the server. The reviews answer questions about all of this as API objects. {@link checkEscalation} keeps people from
 * granting what they do not hold; {@link ensureDefaultRoles} gives a new cluster the roles that every cluster has.
 *
 * It promises to decide, and to word its refusals, as a real API server does; all of it is synchronous.
 */
export { AccessControl, type AccessControlOptions } from "./access-control.ts";
export { type Attributes, attributesOf, forbiddenError, pathAttributes, resourceAttributes } from "./attributes.ts";
export { Authenticator, unauthorized } from "./authenticator.ts";
export { type Answerer, type Front, Guard, type GuardOptions } from "./guard.ts";
export type { Impersonation } from "./impersonation.ts";
export type { Peer, PeerCertificate } from "./peer.ts";
export { aggregatedRules } from "./rbac/aggregation.ts";
export { Authorizer, type Decision } from "./rbac/authorizer.ts";
export { ensureDefaultRoles } from "./rbac/default-roles.ts";
export { checkEscalation, type RbacWrite } from "./rbac/escalation.ts";
export type { BindingObject, RoleObject, RoleRef, Subject } from "./rbac/role-objects.ts";
export type { PolicyRule } from "./rbac/rules.ts";
export {
  reviewLocalSubjectAccess,
  reviewSelfAccess,
  reviewSelfRules,
  reviewSubjectAccess,
} from "./reviews/access-reviews.ts";
export { reviewSelf, reviewToken } from "./reviews/identity-reviews.ts";
export { requestToken, type TokenRequestCall } from "./reviews/token-request.ts";
export {
  ServiceAccountTokens,
  type ServiceAccountTokensOptions,
  type TokenSubject,
} from "./tokens/service-account-tokens.ts";
export { parseTokenFile, type StaticToken } from "./tokens/static-tokens.ts";
export { anonymousUser, serviceAccountGroups, serviceAccountUserName, type User } from "./user.ts";
